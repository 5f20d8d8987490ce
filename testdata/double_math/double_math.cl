/* Roots of quadratic equations in double precision.
 *
 * Writes both real roots in ascending order, or a code for the other cases. Fixture for: cl_khr_fp64, else-if chains, a
 * fused multiply-add, doubles as scalars and in vectors, comparison of floats by == and !=.
 */

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define KIND_NONE 0
#define KIND_ONE 1
#define KIND_TWO 2
#define KIND_LINEAR 3
#define KIND_ANY 4

__kernel void double_math(__global const double *coefficients, __global double2 *roots, __global int *kinds, uint n,
                          double nothing)
{
    uint gid = get_global_id(0);
    if (gid >= n)
        return;

    double a = coefficients[3 * gid];
    double b = coefficients[3 * gid + 1];
    double c = coefficients[3 * gid + 2];
    double2 root = (double2)(nothing, nothing);
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
            root = (double2)(-b / (2.0 * a));
        } else if (discriminant > 0.0) {
            kind = KIND_TWO;
            double q = -0.5 * (b + copysign(sqrt(discriminant), b));
            double one = q / a;
            double other = c / q;
            root = (double2)(fmin(one, other), fmax(one, other));
        }
    }

    roots[gid] = root;
    kinds[gid] = kind;
}
