// Applies to each value what a table, an argument or a class says.
//
// Fixture: calls through pointers to functions: from a constant table by an index of run time, from a choice, through a
// helper's parameter, by a template's parameter, and virtual ones on objects of the kernel.

typedef int (*Step)(int);

__device__ int twice(int x) { return 2 * x; }
__device__ int less(int x) { return x - 3; }
__device__ int square(int x)
{
    if (x < 0)
        return -x * x;
    return x * x;
}

__device__ int apply(Step step, int x, int times)
{
    for (int i = 0; i < times; i++)
        x = step(x);
    return x;
}

template <Step S> __device__ int known(int x) { return S(x) + 1; }

struct Shape {
    int size;
    __device__ Shape(int size) : size(size) {}
    __device__ virtual int area() const { return size; }
};

struct Box : Shape {
    __device__ Box(int size) : Shape(size) {}
    __device__ int area() const override { return size * size; }
};

__global__ void steps(const int *in, const int *which, int *out, int n)
{
    Step table[3] = { twice, less, square };
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const Step chosen = in[i] > 4 ? less : twice;
    Shape point(in[i]);
    Box box(in[i]);
    const Shape *shape = which[i] == 1 ? &box : &point;
    int *to = out + 4 * i;
    to[0] = table[which[i]](in[i]);
    to[1] = apply(chosen, in[i], 2);
    to[2] = known<square>(in[i]);
    to[3] = shape->area();
}
