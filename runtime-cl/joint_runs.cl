/* What the worker runs around a joint launch: it resets the memory of every run before, and compares what every run left behind
 * afterwards. The driver compiles this text itself; `worker/joint.rs` has the same structures. A work-group takes care of a run. */

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

/* Work-items of a group. */
#define ITEMS 64

/* Words of a slot, and of a result. */
#define SLOT_WORDS 8
#define RESULT_WORDS 8

/* Bits for the number of a scalar within its element. */
#define LEAF_BITS 16

/* Runs of a launch that lie side by side. Distances are in bytes from the start of the arena. */
typedef struct {
    ulong pristine; /* what the memory of each run begins with */
    ulong base;     /* the memory of the first run */
    ulong stride;   /* from one run's memory to the next; a multiple of 16 */
    uint first;     /* number of the first run in this launch of the device */
    uint fields, count; /* what is compared: position and number */
    uint unused;
} segment_t;

typedef struct {
    uint segment;
    uint words[2]; /* what the run's slot begins with */
    uint unused;
} run_t;

/* Scalars at equal distances, all compared alike. */
typedef struct {
    ulong at;       /* the first one, in a run's memory */
    ulong expected; /* the first one expected, in the arena */
    ulong stride;
    ulong count;
    double abs, rel;
    uint kind;
    uint leaf; /* number of the reference above LEAF_BITS, and of the scalar within its element */
} field_t;

/* Kinds of scalars: integers of 1 << kind bytes, then floats. */
#define KIND_HALF 4
#define KIND_FLOAT 5
#define KIND_DOUBLE 6

__kernel void reset(__global uchar *arena, __global uint *slots, __global const segment_t *segments, __global const run_t *runs) {
    uint number = (uint)get_group_id(0), item = (uint)get_local_id(0);
    run_t run = runs[number];
    __global const segment_t *segment = segments + run.segment;
    __global const uint4 *from = (__global const uint4 *)(arena + segment->pristine);
    __global uint4 *to = (__global uint4 *)(arena + segment->base + (number - segment->first) * segment->stride);
    for (ulong i = item; i < segment->stride / 16; i += ITEMS) {
        to[i] = from[i];
    }
    if (item < SLOT_WORDS) {
        slots[(size_t)number * SLOT_WORDS + item] = item == 0 ? run.words[0] : item == 1 ? run.words[1] : 0;
    }
}

/* The rule of src/suite/compare.rs. */
static int near(double expected, double actual, double abs, double rel) {
    if (expected == actual || (isnan(expected) && isnan(actual))) {
        return 1;
    }
    return isfinite(expected) && isfinite(actual) && fabs(actual - expected) <= abs + rel * fabs(expected);
}

static ulong bits(uint kind, __global const uchar *at) {
    switch (kind) {
    case 0: return *at;
    case 1:
    case KIND_HALF: return *(__global const ushort *)at;
    case 2:
    case KIND_FLOAT: return *(__global const uint *)at;
    default: return *(__global const ulong *)at;
    }
}

static double number(uint kind, __global const uchar *at) {
    switch (kind) {
    case KIND_HALF: return vload_half(0, (__global const half *)at);
    case KIND_FLOAT: return *(__global const float *)at;
    default: return *(__global const double *)at;
    }
}

__kernel void compare(__global const uchar *arena, __global const uint *slots, __global const segment_t *segments,
                      __global const run_t *runs, __global const field_t *fields, __global uint *results) {
    __local ulong places[ITEMS], elements[ITEMS];
    __local uint found[ITEMS];
    uint run = (uint)get_group_id(0), item = (uint)get_local_id(0);
    __global const segment_t *segment = segments + runs[run].segment;
    __global const uchar *memory = arena + segment->base + (run - segment->first) * segment->stride;
    /* The least of what this work-item finds, by reference, element and scalar. */
    ulong place = ~0ul, element = ~0ul;
    uint field = 0;
    for (uint f = segment->fields; f < segment->fields + segment->count; ++f) {
        __global const field_t *one = fields + f;
        for (ulong i = item; i < one->count; i += ITEMS) {
            __global const uchar *expected = arena + one->expected + i * one->stride, *actual = memory + one->at + i * one->stride;
            if (bits(one->kind, expected) == bits(one->kind, actual)) {
                continue;
            }
            if (one->kind >= KIND_HALF && near(number(one->kind, expected), number(one->kind, actual), one->abs, one->rel)) {
                continue;
            }
            ulong reference = one->leaf >> LEAF_BITS, before = place >> LEAF_BITS;
            if (place == ~0ul || reference < before ||
                (reference == before && (i < element || (i == element && one->leaf < place)))) {
                place = one->leaf;
                element = i;
                field = f;
            }
            break;
        }
    }
    places[item] = place;
    elements[item] = element;
    found[item] = field;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = ITEMS / 2; width > 0; width /= 2) {
        if (item < width) {
            ulong mine = places[item], other = places[item + width];
            int is_less = other != ~0ul && (mine == ~0ul || other >> LEAF_BITS < mine >> LEAF_BITS ||
                (other >> LEAF_BITS == mine >> LEAF_BITS &&
                    (elements[item + width] < elements[item] || (elements[item + width] == elements[item] && other < mine))));
            if (is_less) {
                places[item] = other;
                elements[item] = elements[item + width];
                found[item] = found[item + width];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0) {
        __global const uint *slot = slots + (size_t)run * SLOT_WORDS;
        __global uint *result = results + (size_t)run * RESULT_WORDS;
        result[0] = slot[2];
        result[1] = slot[3];
        result[2] = slot[4];
        place = places[0];
        element = elements[0];
        ulong actual = 0;
        if (place != ~0ul) {
            __global const field_t *one = fields + found[0];
            actual = bits(one->kind, memory + one->at + element * one->stride);
        }
        result[3] = place == ~0ul ? 0 : (uint)place + 1;
        result[4] = (uint)element;
        result[5] = (uint)(element >> 32);
        result[6] = (uint)actual;
        result[7] = (uint)(actual >> 32);
    }
}
