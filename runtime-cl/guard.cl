/* Device functions called by guards; woven into modules with mutants. Compiled and linked like coverage.cl.
 *
 * A work-item keeps its fuel (remaining loop iterations) and its latest fault in private words, which end up in
 * registers; both are reported to the slot at the end of the kernel. The numbers of words and of fault kinds are
 * those of src/ir/instrument/layout.rs. */

#define KASSAY_INLINE __attribute__((always_inline))

#define KASSAY_FUEL 0
#define KASSAY_FAULT 2
#define KASSAY_FAULT_ITEM 3
#define KASSAY_FUEL_USED 4
#define KASSAY_OUT_OF_FUEL 1

/* The size of an argument in bytes: its extent, at `word` of the probe buffer. */
KASSAY_INLINE ulong __kassay_extent(__global const uint *probe, uint word) {
    return (ulong)probe[word] | (ulong)probe[word + 1] << 32;
}

/* The number of positions 0, `step`, 2 * `step` ... at which an access that ends `end` bytes further on is in
 * bounds. */
KASSAY_INLINE ulong __kassay_places(ulong extent, ulong end, ulong step) {
    return extent < end ? 0 : (extent - end) / step + 1;
}

KASSAY_INLINE uint __kassay_at_most(ulong places, uint most) { return places < most ? (uint)places : most; }

/* Returns whether `count` elements of `size` bytes, the first at `offset` and each `stride` elements after the
 * previous one, lie within `extent` bytes. */
KASSAY_INLINE uint __kassay_span_fits(ulong extent, ulong offset, ulong count, ulong stride, ulong size) {
    if (count == 0) {
        return 1;
    }
    /* No product overflows: each factor is at most the extent. */
    if (offset > extent || count > extent || (count > 1 && stride > extent / (count - 1))) {
        return 0;
    }
    ulong elements = (count - 1) * stride + 1;
    return elements <= (extent - offset) / size;
}

/* Records a fault if `bad`, without a branch and without testing whether there was one before, which would slow
 * inner loops down by a factor of two to three. So a work-item reports its last fault. The fuel is not changed: as
 * long as it is only counted, work-items with equal counts stay together, which vectorisers depend on. The work-item
 * continues within its bounds and its fuel. */
KASSAY_INLINE void __kassay_fault_if(__private uint *fault, uint bad, uint code) {
    *fault = bad != 0 ? code : *fault;
}

KASSAY_INLINE int __kassay_fuel(__global const uint *probe) { return (int)probe[KASSAY_FUEL]; }

/* The linear global id without the offset, computed from group and local ids: a `get_global_id(2)`, even an
 * unreachable one, makes Intel's CPU runtime give up most of its optimisations for kernels of one or two dimensions
 * (3 to 15 times slower). */
KASSAY_INLINE uint __kassay_item(void) {
    size_t x = get_group_id(0) * get_local_size(0) + get_local_id(0);
    size_t y = get_group_id(1) * get_local_size(1) + get_local_id(1);
    size_t z = get_group_id(2) * get_local_size(2) + get_local_id(2);
    return (uint)((z * get_global_size(1) + y) * get_global_size(0) + x);
}

/* Called where a loop is left: `spent` is set to its fault if the fuel ran out there and not before. */
KASSAY_INLINE void __kassay_left(__private uint *spent, int fuel, uint code) {
    uint here = (uint)(fuel < 0) & (uint)(*spent == 0);
    *spent = here != 0 ? code : *spent;
}

/* Called at the kernel's end. Fuel is also counted for work-items that had a fault, because tests may allow faults. Of
 * the faults of several work-items the greatest code is kept, so that what is reported does not depend on which of them
 * a device happens to run first. */
KASSAY_INLINE void __kassay_report(__global const uint *probe, __global uint *slot, uint fault, int fuel, uint spent) {
    uint used = probe[KASSAY_FUEL] - (fuel < 0 ? 0 : (uint)fuel);
    if (used > slot[KASSAY_FUEL_USED]) {
        atomic_max(slot + KASSAY_FUEL_USED, used);
    }
    uint code = fault == 0 && fuel < 0 ? (spent == 0 ? KASSAY_OUT_OF_FUEL : spent) : fault;
    if (code != 0 && atomic_max(slot + KASSAY_FAULT, code) < code) {
        atomic_xchg(slot + KASSAY_FAULT_ITEM, __kassay_item());
    }
}

/* Loops that contain barriers are left only when the group agrees. An item without fuel sets one of two words before
 * a barrier; after the barrier all items read it. The next barrier uses the other word, so that no item writes a
 * word that another one still reads. A set word stays set, so it need not be cleared. */

KASSAY_INLINE void __kassay_flags(__local uint *flags) {
    if (get_local_id(0) == 0 && get_local_id(1) == 0 && get_local_id(2) == 0) {
        flags[0] = 0;
        flags[1] = 0;
    }
}

KASSAY_INLINE void __kassay_arrive(__local uint *flags, __private const uint *turn, __private const int *fuel) {
    if (*fuel < 0) {
        flags[*turn] = 1;
    }
}

/* Loops with barriers end when the fuel is below the floor, which is initially far below zero (they end even then,
 * so that a loop that contains a barrier but does not reach it is left) and after the agreement above any fuel. */
KASSAY_INLINE void __kassay_agree(__local const uint *flags, __private uint *turn, __private int *floor) {
    *floor = flags[*turn] != 0 ? 0x7fffffff : *floor;
    *turn ^= 1u;
}

/* A barrier: after the group has initialised local memory, and in front of a collective function that is not a
 * barrier. */
KASSAY_INLINE void __kassay_meet(void) { barrier(CLK_LOCAL_MEM_FENCE); }

/* Fills local memory, with all items of the group together, so that uninitialised memory has the same contents in
 * every launch. The bytes form large positive numbers of every type, which are easier to notice in results than a
 * zero. */
KASSAY_INLINE void __kassay_fill(__local uint *to, ulong bytes) {
    ulong items = get_local_size(0) * get_local_size(1) * get_local_size(2);
    ulong item = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
    for (ulong i = item; i < bytes / 4; i += items) {
        to[i] = 0x6a6a6a6a;
    }
    for (ulong i = bytes / 4 * 4 + item; i < bytes; i += items) {
        ((__local uchar *)to)[i] = 0x6a;
    }
}
