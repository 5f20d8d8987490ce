// One time step of n bodies that attract one another: positions (w: mass) and velocities in, the same a step later out.
//
// Fixture: buffers of float4, a struct with an array passed by value, a helper on vectors, floating-point results
// that need a tolerance (rsqrt).

typedef struct {
    float dt;
    float softening;
    int count;
    float box[2];
} step_t;

static float4 pull(const float4 on, const float4 by, const float softening)
{
    float4 d = by - on;
    d.w = 0.0f;
    const float r = rsqrt(dot(d, d) + softening);
    return d * (by.w * r * r * r);
}

__kernel void nbody_step(__global const float4 *position, __global const float4 *velocity,
                         __global float4 *new_position, __global float4 *new_velocity, __global int *near,
                         __global float *nearest, const step_t step)
{
    const int i = get_global_id(0);

    if (i >= step.count)
        return;

    const float4 here = position[i];
    float4 force = (float4)(0.0f);
    float closest = MAXFLOAT;
    int neighbours = 0;

    for (int j = 0; j < step.count; ++j) {
        if (j == i)
            continue;
        const float away = distance(here.xyz, position[j].xyz);
        force += pull(here, position[j], step.softening);
        closest = fmin(closest, away);
        neighbours += away < step.box[1] ? 1 : 0;
    }

    float4 v = velocity[i] + force * step.dt;
    float4 p = here + v * step.dt;
    p.w = here.w;
    if (fabs(p.x) > step.box[0]) {
        v.x = -v.x;
        p.x = here.x;
    }
    new_velocity[i] = v;
    new_position[i] = p;
    near[i] = neighbours;
    nearest[i] = closest;
}
