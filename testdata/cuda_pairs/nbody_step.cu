// nbody_step.cl in CUDA, each line in its place.
#include <cfloat>
#define sum(a, b) make_float4((a).x + (b).x, (a).y + (b).y, (a).z + (b).z, (a).w + (b).w)
#define scaled(a, f) make_float4((a).x * (f), (a).y * (f), (a).z * (f), (a).w * (f))

typedef struct {
    float dt;
    float softening;
    int count;
    float box[2];
} step_t;

static __device__ float4 pull(const float4 on, const float4 by, const float softening)
{
    float4 d = make_float4(by.x - on.x, by.y - on.y, by.z - on.z, 0.0f);
    d.w = 0.0f;
    const float r = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z + d.w * d.w + softening);
    return scaled(d, by.w * r * r * r);
}

__global__ void nbody_step(const float4 *position, const float4 *velocity,
                           float4 *new_position, float4 *new_velocity, int *near,
                           float *nearest, const step_t step)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= step.count)
        return;

    const float4 here = position[i];
    float4 force = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float closest = FLT_MAX;
    int neighbours = 0;

    for (int j = 0; j < step.count; ++j) {
        if (j == i)
            continue;
        const float away = norm3df(here.x - position[j].x, here.y - position[j].y, here.z - position[j].z);
        force = sum(force, pull(here, position[j], step.softening));
        closest = fmin(closest, away);
        neighbours += away < step.box[1] ? 1 : 0;
    }

    float4 v = sum(velocity[i], scaled(force, step.dt));
    float4 p = sum(here, scaled(v, step.dt));
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
