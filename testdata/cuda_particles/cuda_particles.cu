// Moves particles in a box that a struct describes, with device functions of a header.
//
// Fixture: a struct by value with a pointer in it, an array of structs, a header beside the kernel.

#include "box.cuh"

__global__ void move(Box box, Particle *particles, float dt)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= box.count) {
        return;
    }
    Particle p = particles[i];
    p.x += dt * p.v;
    if (reflect(box, p)) {
        box.hits[i] += 1;
    }
    particles[i] = p;
}
