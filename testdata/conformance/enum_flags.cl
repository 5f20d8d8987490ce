// conformance: out=1024 global=256 local=64
// Enumerations in switches, as bits, as indices of arrays, and of type char in structs.
typedef enum { NONE = 0, LEFT = 1, RIGHT = 2, UP = 4, DOWN = 8, ALL = LEFT | RIGHT | UP | DOWN } Side;
typedef struct { Side side; uchar count; } Move;

int score(Side side)
{
    switch (side) {
    case NONE: return 1;
    case LEFT: case RIGHT: return 2;
    case ALL: return 3;
    default: return side & UP ? 4 : 5;
    }
}

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    Move moves[3] = { { LEFT, 1 }, { (Side)(g & 15), 2 }, { ALL & ~UP, 3 } };
    int table[ALL + 1] = { [UP] = 7, [DOWN] = 9 };
    int r = 0;
    for (int i = 0; i < 3; i++)
        r = r * 10 + score(moves[i].side) * moves[i].count + table[moves[i].side];
    ((__global int*)out)[g] = r;
}
