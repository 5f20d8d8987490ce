// struct_args.cl in CUDA, each line in its place.
#define dot(p) ((p).x * (p).x + (p).y * (p).y + (p).z * (p).z + (p).w * (p).w)




typedef struct {
    float2 drift;
    short steps;
    unsigned char kinds[3];
} motion;

typedef struct {
    int count;
    float weights[4];
    motion moves;
    float3 axis;
    char mirror;
} config;

typedef struct {
    float4 position;
    float mass;
    int kind;
} particle;

__device__ float weigh(config c, int kind)
{
    if (kind < 0 || kind > 3)
        return 1.0f;
    return c.weights[kind];
}

__device__ motion scaled(motion m, float factor)
{
    motion result = m;
    result.drift = make_float2(result.drift.x * factor, result.drift.y * factor);
    return result;
}

__global__ void struct_args(config c, particle *particles, float *energy)
{
    int gid = blockIdx.x * blockDim.x + threadIdx.x;
    if (gid >= c.count)
        return;

    int kind = particles[gid].kind;
    float4 position = particles[gid].position;
    motion m = scaled(c.moves, weigh(c, kind));
    for (int step = 0; step < m.steps; step++)
        position.x += m.drift.x, position.y += m.drift.y;

    bool listed = false;
    for (int i = 0; i < 3 && !listed; i++)
        listed = m.kinds[i] == kind;
    if (listed)
        position.x += c.axis.x, position.y += c.axis.y, position.z += c.axis.z;
    if (c.mirror)
        position = make_float4(-position.x, -position.y, -position.z, -position.w);

    particles[gid].position = position;
    particles[gid].mass *= 2.0f;
    energy[gid] = particles[gid].mass * dot(position);
}
