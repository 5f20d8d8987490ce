/* What the worker runs around a joint launch: it resets the memory of every run before, and compares what every run left behind
 * afterwards. The driver compiles this text itself; `worker/joint/kernels.rs` has the same structures. A work-group takes care of a run;
 * it has more work-items where runs have more memory. Where a loop may run for long, a work-item has several reads under way at once:
 * one after the other, they would wait for the memory most of the time. */

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

/* Most work-items of a group; their number is a power of two. */
#define MOST_ITEMS 256

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
    ulong count = segment->stride / 16, items = get_local_size(0), i = item;
    for (; i + 3 * items < count; i += 4 * items) {
        uint4 a = from[i], b = from[i + items], c = from[i + 2 * items], d = from[i + 3 * items];
        to[i] = a;
        to[i + items] = b;
        to[i + 2 * items] = c;
        to[i + 3 * items] = d;
    }
    for (; i < count; i += items) {
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

/* Whether the scalar `i` of a field is another than expected. */
static int differs(__global const field_t *field, __global const uchar *expected, __global const uchar *actual, ulong i) {
    __global const uchar *wanted = expected + i * field->stride, *found = actual + i * field->stride;
    if (bits(field->kind, wanted) == bits(field->kind, found)) {
        return 0;
    }
    return field->kind < KIND_HALF ||
           !near(number(field->kind, wanted), number(field->kind, found), field->abs, field->rel);
}

/* The first of the scalars from `begin` to before `end` that differs; `end` if none does. */
static ulong first_among(__global const field_t *field, __global const uchar *expected, __global const uchar *actual, ulong begin, ulong end) {
    while (begin < end && !differs(field, expected, actual, begin)) {
        ++begin;
    }
    return begin;
}

/* Whether the blocks of 16 bytes at `i` are the same. */
static int is_same(__global const uint4 *expected, __global const uint4 *actual, ulong i) {
    uint4 other = expected[i] ^ actual[i];
    return (other.x | other.y | other.z | other.w) == 0;
}

/* The first scalar of a field that differs, among those that a work-item looks at: blocks of 16 bytes at equal distances, then single ones
 * of the rest. `count` if there is none. */
static ulong first_different(__global const field_t *field, __global const uchar *expected, __global const uchar *actual) {
    ulong item = get_local_id(0), items = get_local_size(0), count = field->count, i = item;
    ulong size = field->kind == KIND_HALF ? 2 : field->kind == KIND_FLOAT ? 4 : field->kind == KIND_DOUBLE ? 8 : 1ul << field->kind;
    if (field->stride == size && (((ulong)expected | (ulong)actual) & 15) == 0) {
        __global const uint4 *wanted = (__global const uint4 *)expected, *found = (__global const uint4 *)actual;
        ulong per = 16 / size, blocks = count / per, block = item;
        for (; block < blocks; block += 4 * items) {
            int same = is_same(wanted, found, block);
            if (block + 3 * items < blocks) {
                same &= is_same(wanted, found, block + items) & is_same(wanted, found, block + 2 * items) &
                        is_same(wanted, found, block + 3 * items);
                if (same) {
                    continue;
                }
            }
            for (ulong b = block; b < blocks && b < block + 4 * items; b += items) {
                ulong at = is_same(wanted, found, b) ? (b + 1) * per : first_among(field, expected, actual, b * per, (b + 1) * per);
                if (at < (b + 1) * per) {
                    return at;
                }
            }
        }
        i = blocks * per + item;
    }
    for (; i < count; i += items) {
        if (differs(field, expected, actual, i)) {
            return i;
        }
    }
    return count;
}

__kernel void compare(__global const uchar *arena, __global const uint *slots, __global const segment_t *segments,
                      __global const run_t *runs, __global const field_t *fields, __global uint *results) {
    __local ulong places[MOST_ITEMS], elements[MOST_ITEMS];
    __local uint found[MOST_ITEMS];
    uint run = (uint)get_group_id(0), item = (uint)get_local_id(0);
    __global const segment_t *segment = segments + runs[run].segment;
    __global const uchar *memory = arena + segment->base + (run - segment->first) * segment->stride;
    /* The least of what this work-item finds, by reference, element and scalar. */
    ulong place = ~0ul, element = ~0ul;
    uint field = 0;
    for (uint f = segment->fields; f < segment->fields + segment->count; ++f) {
        __global const field_t *one = fields + f;
        ulong i = first_different(one, arena + one->expected, memory + one->at);
        if (i == one->count) {
            continue;
        }
        ulong reference = one->leaf >> LEAF_BITS, before = place >> LEAF_BITS;
        if (place == ~0ul || reference < before || (reference == before && (i < element || (i == element && one->leaf < place)))) {
            place = one->leaf;
            element = i;
            field = f;
        }
    }
    places[item] = place;
    elements[item] = element;
    found[item] = field;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = (uint)get_local_size(0) / 2; width > 0; width /= 2) {
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
