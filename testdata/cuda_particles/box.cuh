// What particles and their box are.

#pragma once

struct Particle {
    float x;
    float v;
};

struct Box {
    float low;
    float high;
    int count;
    int *hits;
};

// Turns a particle back that has left the box.
__device__ inline bool reflect(const Box &box, Particle &p)
{
    if (p.x < box.low || p.x > box.high) {
        p.x = p.x < box.low ? 2.0f * box.low - p.x : 2.0f * box.high - p.x;
        p.v = -p.v;
        return true;
    }
    return false;
}
