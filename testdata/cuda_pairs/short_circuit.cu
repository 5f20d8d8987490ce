// short_circuit.cl in CUDA, each line in its place.




#define ALARM 1
#define WATCH 2
#define QUIET 4
#define ODD 8
#define PAIR 16
#define STEADY 32

static __device__ int in_range(const int v, const int low, const int high)
{
    return v >= low && v <= high;
}

static __device__ int score(const int yes)
{
    return yes ? 100 : 0;
}

__global__ void short_circuit(const int *pressure, const int *heat, int *flags, const int n,
                            const int armed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int flag = 0;

    if (!(i < n))
        return;

    const int p = pressure[i];
    const int t = heat[i];

    // nested: a disjunction of conjunctions, and the other way round
    if ((p > 80 && t > 80) || (armed && (p > 95 || t > 95)))
        flag |= ALARM;
    if ((p > 60 || t > 60) && !(flag & ALARM) && armed)
        flag |= WATCH;

    // negations: of the whole, of the operands
    if (!(p > 20 || t > 20))
        flag |= QUIET;
    if (!(p & 1) && !(t % 2 == 0)) {
        flag |= ODD;
    }

    // two values compared: one operand for the if
    if ((p > 50 && t > 50) == (p < 90 || t < 90))
        flag |= PAIR;

    // a ternary, a value, an argument
    flag += (p == t || p == -t) ? 1000 : 2000;
    const int near = in_range(p, 40, 60) && in_range(t, 40, 60);
    flag += near * 10000 + score(p < 0 || t < 0);

    // loop conditions
    int left = i;
    int right = i;
    while (left > 0 && pressure[left - 1] == p)
        --left;
    do {
        ++right;
    } while (right < n && pressure[right] == p && heat[right] == t);
    if (right - left > 3)
        flag += STEADY;

    flags[i] = flag;
}
