/* Moves particles by a configuration that is passed by value.
 *
 * Fixture for: a struct argument with an array, a nested struct and a three-lane vector (so with padding inside and at the
 * end), a buffer of structs that is read and written member by member, structs passed to and returned from helpers.
 */

typedef struct {
    float2 drift;
    short steps;
    uchar kinds[3];
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

float weigh(config c, int kind)
{
    if (kind < 0 || kind > 3)
        return 1.0f;
    return c.weights[kind];
}

motion scaled(motion m, float factor)
{
    motion result = m;
    result.drift *= factor;
    return result;
}

__kernel void struct_args(config c, __global particle *particles, __global float *energy)
{
    int gid = get_global_id(0);
    if (gid >= c.count)
        return;

    int kind = particles[gid].kind;
    float4 position = particles[gid].position;
    motion m = scaled(c.moves, weigh(c, kind));
    for (int step = 0; step < m.steps; step++)
        position.xy += m.drift;

    bool listed = false;
    for (int i = 0; i < 3 && !listed; i++)
        listed = m.kinds[i] == kind;
    if (listed)
        position.xyz += c.axis;
    if (c.mirror)
        position = -position;

    particles[gid].position = position;
    particles[gid].mass *= 2.0f;
    energy[gid] = particles[gid].mass * dot(position, position);
}
