// Bonds are unions of two names for the same two numbers: particles that the kernel looks up.
// expect: clean
union bond {
    unsigned int tag[2];
    unsigned int index[2];
};

__global__ void lengths(float *length, const float4 *position, const bond *bonds, const unsigned int count) {
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const bond b = bonds[i];
    const float4 from = position[b.index[0]], to = position[b.index[1]];
    length[i] = sqrtf((from.x - to.x) * (from.x - to.x) + (from.y - to.y) * (from.y - to.y));
}
