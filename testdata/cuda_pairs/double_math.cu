// double_math.cl in CUDA, each line in its place.







#define KIND_NONE 0
#define KIND_ONE 1
#define KIND_TWO 2
#define KIND_LINEAR 3
#define KIND_ANY 4

__global__ void double_math(const double *coefficients, double2 *roots, int *kinds, unsigned n,
                          double nothing)
{
    unsigned gid = blockIdx.x * blockDim.x + threadIdx.x;
    if (gid >= n)
        return;

    double a = coefficients[3 * gid];
    double b = coefficients[3 * gid + 1];
    double c = coefficients[3 * gid + 2];
    double2 root = make_double2(nothing, nothing);
    int kind = KIND_NONE;

    if (a == 0.0) {
        if (b != 0.0) {
            kind = KIND_LINEAR;
            root.x = -c / b;
        } else if (c == 0.0) {
            kind = KIND_ANY;
        }
    } else {
        double discriminant = fma(b, b, -4.0 * a * c);
        if (discriminant == 0.0) {
            kind = KIND_ONE;
            root = make_double2(-b / (2.0 * a), -b / (2.0 * a));
        } else if (discriminant > 0.0) {
            kind = KIND_TWO;
            double q = -0.5 * (b + copysign(sqrt(discriminant), b));
            double one = q / a;
            double other = c / q;
            root = make_double2(fmin(one, other), fmax(one, other));
        }
    }

    roots[gid] = root;
    kinds[gid] = kind;
}
