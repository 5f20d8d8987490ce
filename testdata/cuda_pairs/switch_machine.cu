// switch_machine.cl in CUDA, each line in its place.





enum { START, SIGNED, WHOLE, POINT, FRACTION, BROKEN };

static __device__ int kind_of(const char c)
{
    switch (c) {
    case '+':
    case '-':
        return 0;
    default:
        return c >= '0' && c <= '9' ? 1 : 3;
    case '.':
        return 2;
    }
}

__global__ void switch_machine(const char *text, const int stride, int *state_out, int *weight)
{
    const int line = blockIdx.x * blockDim.x + threadIdx.x;
    int state = START;
    int sum = 0;

    for (int at = 0; at < stride; ++at) {
        const char c = text[line * stride + at];
        if (c == ' ')
            break;
        const int kind = kind_of(c);

        switch (state) {
        case START:
            sum += 1;
        case SIGNED:
            state = kind == 1 ? WHOLE : BROKEN;
            if (kind == 0 && at == 0)
                state = SIGNED;
            break;
        case WHOLE:
            if (kind == 2) {
                state = POINT;
                continue;
            }
        case FRACTION:
        case POINT:
            if (kind != 1)
                state = BROKEN;
            else if (state == POINT)
                state = FRACTION;
            sum += 10;
            break;
        case BROKEN:
            sum -= 1;
        }
    }

    switch (state) {
    case WHOLE:
    case FRACTION:
        sum *= 2;
    }
    state_out[line] = state;
    weight[line] = sum;
}
