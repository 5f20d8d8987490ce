/* Random numbers of kernels. The generator is kassay's own (splitmix64), so streams are not those of cuRAND. */
#pragma once
#include <kassay/cuda.h>

struct __kassay_random {
    unsigned long long state;
};
typedef __kassay_random curandState, curandState_t, curandStateXORWOW, curandStateXORWOW_t, curandStateMRG32k3a,
    curandStateMRG32k3a_t, curandStatePhilox4_32_10, curandStatePhilox4_32_10_t, hiprandState, hiprandState_t,
    hiprandStateXORWOW_t, hiprandStatePhilox4_32_10_t;

#define KASSAY_GOLDEN 0x9E3779B97F4A7C15ull
#define KASSAY_SEQUENCE 0xD1342543DE82EF95ull
KASSAY_INNER void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                              __kassay_random *r) {
    r->state = seed + sequence * KASSAY_SEQUENCE + offset * KASSAY_GOLDEN;
}
KASSAY_INNER void skipahead(unsigned long long n, __kassay_random *r) { r->state += n * KASSAY_GOLDEN; }
KASSAY_INNER void skipahead_sequence(unsigned long long n, __kassay_random *r) { r->state += n * KASSAY_SEQUENCE; }
KASSAY_INNER void skipahead_subsequence(unsigned long long n, __kassay_random *r) { skipahead_sequence(n, r); }
KASSAY_INNER unsigned curand(__kassay_random *r) {
    unsigned long long z = r->state += KASSAY_GOLDEN;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return (unsigned)(z >> 32);
}
/* In (0, 1], as cuRAND has them. */
KASSAY_INNER float curand_uniform(__kassay_random *r) { return ((curand(r) >> 8) + 1) * 0x1p-24f; }
KASSAY_INNER double curand_uniform_double(__kassay_random *r) { return (curand(r) + 1.0) * 0x1p-32; }
KASSAY_INNER double2 curand_uniform2_double(__kassay_random *r) {
    double x = curand_uniform_double(r), y = curand_uniform_double(r);
    return double2{x, y};
}
KASSAY_INNER float2 curand_normal2(__kassay_random *r) {
    float radius = sqrtf(-2.0f * logf(curand_uniform(r))), angle = 2.0f * curand_uniform(r);
    return float2{radius * sinpif(angle), radius * cospif(angle)};
}
KASSAY_INNER double2 curand_normal2_double(__kassay_random *r) {
    double radius = sqrt(-2.0 * log(curand_uniform_double(r))), angle = 2.0 * curand_uniform_double(r);
    return double2{radius * sinpi(angle), radius * cospi(angle)};
}
KASSAY_INNER float curand_normal(__kassay_random *r) { return curand_normal2(r).x; }
KASSAY_INNER double curand_normal_double(__kassay_random *r) { return curand_normal2_double(r).x; }
KASSAY_INNER uint4 curand4(__kassay_random *r) {
    unsigned x = curand(r), y = curand(r), z = curand(r), w = curand(r);
    return uint4{x, y, z, w};
}
KASSAY_INNER float4 curand_uniform4(__kassay_random *r) {
    float x = curand_uniform(r), y = curand_uniform(r), z = curand_uniform(r), w = curand_uniform(r);
    return float4{x, y, z, w};
}
KASSAY_INNER float4 curand_normal4(__kassay_random *r) {
    float2 a = curand_normal2(r), b = curand_normal2(r);
    return float4{a.x, a.y, b.x, b.y};
}
KASSAY_INNER float curand_log_normal(__kassay_random *r, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(r));
}
KASSAY_INNER double curand_log_normal_double(__kassay_random *r, double mean, double deviation) {
    return exp(mean + deviation * curand_normal_double(r));
}
KASSAY_INNER float2 curand_log_normal2(__kassay_random *r, float mean, float deviation) {
    float2 n = curand_normal2(r);
    return float2{expf(mean + deviation * n.x), expf(mean + deviation * n.y)};
}
KASSAY_INNER double2 curand_log_normal2_double(__kassay_random *r, double mean, double deviation) {
    double2 n = curand_normal2_double(r);
    return double2{exp(mean + deviation * n.x), exp(mean + deviation * n.y)};
}
KASSAY_INNER float4 curand_log_normal4(__kassay_random *r, float mean, float deviation) {
    float2 a = curand_log_normal2(r, mean, deviation), b = curand_log_normal2(r, mean, deviation);
    return float4{a.x, a.y, b.x, b.y};
}
/* Numbers multiplied until the product is small enough (Knuth), for large means in parts; as cuRAND does, those of very
 * large ones are normal. */
KASSAY_INNER unsigned curand_poisson(__kassay_random *r, double mean) {
    if (mean > 4000) {
        double v = floor(mean + sqrt(mean) * curand_normal_double(r) + 0.5);
        return v > 0 ? (unsigned)v : 0;
    }
    unsigned count = 0;
    for (double left = mean; left > 0; left -= 32) {
        double least = exp(-(left < 32 ? left : 32)), product = curand_uniform_double(r);
        for (; product > least; product *= curand_uniform_double(r)) count++;
    }
    return count;
}
KASSAY_INNER uint4 curand_poisson4(__kassay_random *r, double mean) {
    unsigned x = curand_poisson(r, mean), y = curand_poisson(r, mean), z = curand_poisson(r, mean), w = curand_poisson(r, mean);
    return uint4{x, y, z, w};
}
#define hiprand_init curand_init
#define hiprand curand
#define hiprand_uniform curand_uniform
#define hiprand_uniform_double curand_uniform_double
#define hiprand_normal curand_normal
#define hiprand_normal_double curand_normal_double
