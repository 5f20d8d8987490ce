// Checks one line of text a work-item for a decimal number with an optional sign and fraction, by a state
// machine, and weighs the characters on the way. Lines are `stride` characters apart and end at a blank.
//
// Fixture: a switch with fall-through, several labels on one body, a default in the middle, a case that leaves the loop's
// turn by continue, a last case without break, switches without default.

enum { START, SIGNED, WHOLE, POINT, FRACTION, BROKEN };

static int kind_of(const char c)
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

__kernel void switch_machine(__global const char *text, const int stride, __global int *state_out, __global int *weight)
{
    const int line = get_global_id(0);
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
