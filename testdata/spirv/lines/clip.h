// Part of peaks.cl: a file of its own, whose lines must not be taken for the kernel's.
#define LIMIT 100

int clip(const int value)
{
    if (value > LIMIT)
        return LIMIT;
    return value < 0 ? 0 : value;
}
