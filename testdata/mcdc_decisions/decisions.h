// Decisions of two to six conditions, in what C and OpenCL C have in common: scripts/compare-mcdc gives the same code to
// clang for this host.

static int pair_of(const int a, const int b)
{
    if (a && b)
        return 1;
    return 0;
}

static int masked(const int a, const int b, const int c)
{
    return (a && b) || c ? b + 3 : c + 5;
}

static int repeat(const int a, const int b, const int limit)
{
    int n = 0;
    while (a && (b || n < limit)) {
        if (++n == 3)
            break;
    }
    return n;
}

static int three_of(const int a, const int b, const int c, const int d, const int e, const int f)
{
    const int all = (a || b) && (c || d) && (e || f);
    return all * 16;
}

static int negated(const int a, const int b, const int c, const int d)
{
    const int x = a && !(b && (c || d));
    return x * 32;
}

static int nested(const int a, const int b, const int c, const int d)
{
    if (a && (b || c) == d)
        return 64;
    return 0;
}

static int chosen(const int a, const int b, const int c, const int d)
{
    if (a && (b ? c : d))
        return 128;
    return 0;
}

static int decide(const int s)
{
    const int a = s & 1, b = s >> 1 & 1, c = s >> 2 & 1, d = s >> 3 & 1, e = s >> 4 & 1, f = s >> 5 & 1;
    int sum = pair_of(a, b);
    sum += masked(a, b, c);
    sum += repeat(a, b, c + 1);
    sum += three_of(a, b, c, d, e, f);
    sum += negated(a, b, c, d);
    sum += nested(a, b, c, d);
    sum += chosen(a, b, c, d);
    return sum;
}
