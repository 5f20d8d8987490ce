// conformance: out=256 global=64 local=16 options=-cl-std=CL2.0
// Blocks: variables that they capture, typedefs, blocks in blocks, at program scope, in structs of results, in loops and switches.

typedef int (^operation)(int);

struct pair {
    int sum;
    int product;
};

const operation twice = ^(int x) { return 2 * x; };

int nested(int x) {
    return ^(int y) {
        return ^(short z) { return z * 3 + y; }((short)(x + 1)) - y / 2;
    }(x % 17) + x;
}

struct pair both(int a, int b) {
    struct pair (^compute)(int, int) = ^(int u, int v) {
        struct pair result = { u + v, u * v };
        return result;
    };
    return compute(a, b);
}

kernel void calls(global int *out, global const int *in) {
    int i = get_global_id(0);
    int x = in[i] % 1000;
    int offset = x & 7;
    operation add = ^(int y) { return y + offset; };
    // Captured when the block is made.
    offset = -100;
    int sum = add(x) + twice(x) + nested(x);
    struct pair p = both(x, i);
    sum += p.sum - p.product;
    for (int k = 0; k < 4; k++) {
        int (^step)(int) = ^(int y) { return y * k - i; };
        switch (k) {
        case 0:
        case 2:
            sum += step(x);
            break;
        default:
            sum ^= step(sum);
        }
    }
    void (^store)(global int *, int) = ^(global int *to, int value) { to[i] = value; };
    store(out, sum);
}
