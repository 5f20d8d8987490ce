/* Device functions that look for races: called before every access that may race. Compiled and linked like coverage.cl;
 * the numbers of words and bits are those of src/ir/instrument/device_races/layout.rs.
 *
 * Each cell of global memory has two words of shadow memory: who wrote it last (or accessed it atomically), and who read
 * it last. A word is the linear number of the work-group (24 bits), the interval between barriers that order the memory
 * (14), the linear number of the work-item in its group (10), flags (4) and the site of the access (12). Intervals are
 * numbered on from launch to launch, so that what an earlier launch left has a smaller number than any of this one
 * (`first`), and nothing has to be cleared.
 *
 * A work-item first puts its own word in its place, then looks at the other one: of two that access a cell at the same
 * time at least one sees the other. What is already in the shadow memory, or follows from it, is not written again:
 * most accesses only load. */

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

#define KASSAY_INLINE __attribute__((always_inline))

/* Words of the probe buffer. */
#define KASSAY_FIRST 0
#define KASSAY_FLAGS 1
#define KASSAY_LAST 2
#define KASSAY_FOUND 3
#define KASSAY_LOCAL_WORDS 4
#define KASSAY_SEEN 16
#define KASSAY_SEEN_BITS 65536u
#define KASSAY_REPORTS (KASSAY_SEEN + KASSAY_SEEN_BITS / 32)
#define KASSAY_MOST_REPORTS 256u
#define KASSAY_REPORT_WORDS 8

/* Bits of KASSAY_FLAGS: more intervals than there are numbers; an access outside of its buffer. */
#define KASSAY_OVERFLOW 1u
#define KASSAY_OUT_OF_BOUNDS 2u

/* A word of global shadow memory. */
#define KASSAY_GROUP 40
#define KASSAY_INTERVAL 26
#define KASSAY_MOST_INTERVAL 0x3fffu
#define KASSAY_ITEM 16
#define KASSAY_SITES 0xfffu
/* Several groups; several work-items of the group in this interval; atomic; atomic, but in an earlier interval the group
 * accessed it in another way. */
#define KASSAY_GROUPS (1ul << 15)
#define KASSAY_ITEMS (1ul << 14)
#define KASSAY_ATOMIC (1ul << 13)
#define KASSAY_PLAIN (1ul << 12)

/* A word of local shadow memory: interval + 1 (11 bits), work-item (10), several work-items, atomic, several of which some
 * are atomic, site (8). */
#define KASSAY_LOCAL_INTERVAL 21
#define KASSAY_LOCAL_MOST 0x7ffu
#define KASSAY_LOCAL_ITEM 11
#define KASSAY_LOCAL_ITEMS (1u << 10)
#define KASSAY_LOCAL_ATOMIC (1u << 9)
#define KASSAY_LOCAL_MIXED (1u << 8)
#define KASSAY_LOCAL_SITES 0xffu

/* Before the words of cells, local shadow memory has words in which simultaneous readers of a cell meet: the number of the
 * cell, and the work-item (10 bits). */
#define KASSAY_MEETINGS 256u

KASSAY_INLINE static uint kassay_group(void) {
    return (uint)((get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0));
}

KASSAY_INLINE static uint kassay_item(void) {
    return (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0));
}

KASSAY_INLINE static void kassay_flag(__global uint *probe, uint flag) {
    if ((*(volatile __global uint *)(probe + KASSAY_FLAGS) & flag) == 0) {
        atomic_or(probe + KASSAY_FLAGS, flag);
    }
}

/* The work-item's word, without flags and site, in the first interval of the launch. */
KASSAY_INLINE ulong __kassay_race_begin(__global const uint *probe) {
    return (ulong)kassay_group() << KASSAY_GROUP | (ulong)probe[KASSAY_FIRST] << KASSAY_INTERVAL |
           (ulong)kassay_item() << KASSAY_ITEM;
}

KASSAY_INLINE uint __kassay_race_first(__global const uint *probe) { return probe[KASSAY_FIRST]; }

/* The same for the shadow of local memory. */
KASSAY_INLINE uint __kassay_race_local_begin(void) {
    return 1u << KASSAY_LOCAL_INTERVAL | kassay_item() << KASSAY_LOCAL_ITEM;
}

/* A number of 64 bits in the table of objects. */
KASSAY_INLINE ulong __kassay_race_long(__global const uint *probe, uint word) {
    return (ulong)probe[word] | (ulong)probe[word + 1] << 32;
}

/* The shadow memory of an object: the number of its first word is in the table. */
KASSAY_INLINE __global ulong *__kassay_race_cells(__global uint *probe, uint word) {
    return (__global ulong *)(probe + __kassay_race_long(probe, word));
}

/* The same for memory of which every group has its own: `stride` cells for each. */
KASSAY_INLINE __global ulong *__kassay_race_group_cells(__global uint *probe, uint word, uint stride) {
    return __kassay_race_cells(probe, word) + (ulong)kassay_group() * 2 * __kassay_race_long(probe, stride);
}

/* The next interval. Beyond the last number there is none: accesses on both sides of a barrier then seem to conflict,
 * which the flag tells. */
KASSAY_INLINE ulong __kassay_race_advance(__global uint *probe, ulong me) {
    if ((me >> KASSAY_INTERVAL & KASSAY_MOST_INTERVAL) == KASSAY_MOST_INTERVAL) {
        kassay_flag(probe, KASSAY_OVERFLOW);
        return me;
    }
    return me + (1ul << KASSAY_INTERVAL);
}

KASSAY_INLINE uint __kassay_race_local_advance(__global uint *probe, uint me) {
    if (me >> KASSAY_LOCAL_INTERVAL == KASSAY_LOCAL_MOST) {
        kassay_flag(probe, KASSAY_OVERFLOW);
        return me;
    }
    return me + (1u << KASSAY_LOCAL_INTERVAL);
}

/* At the kernel's end: the next launch begins after the last interval of this one. */
KASSAY_INLINE void __kassay_race_end(__global uint *probe, ulong me) {
    uint last = (uint)(me >> KASSAY_INTERVAL) & KASSAY_MOST_INTERVAL;
    if (last > *(volatile __global uint *)(probe + KASSAY_LAST)) {
        atomic_max(probe + KASSAY_LAST, last);
    }
}

/* Clears the shadow of local memory, with all work-items of the group together. */
KASSAY_INLINE void __kassay_race_clear(__global const uint *probe, __local uint *shadow) {
    uint items = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
    uint words = probe[KASSAY_LOCAL_WORDS];
    for (uint i = KASSAY_MEETINGS + kassay_item(); i < words; i += items) {
        shadow[i] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Reports a pair of sites, once; `other`: the group and the work-item of the earlier access. */
static void kassay_report(__global uint *probe, uint site, uint other_site, uint group, uint other_group, uint items,
                          uint object, ulong offset) {
    uint bit = (other_site << 8 ^ other_site >> 8 ^ site) & (KASSAY_SEEN_BITS - 1);
    __global uint *seen = probe + KASSAY_SEEN + (bit >> 5);
    uint mask = 1u << (bit & 31);
    if ((*(volatile __global uint *)seen & mask) != 0 || (atomic_or(seen, mask) & mask) != 0) {
        return;
    }
    uint number = atomic_inc(probe + KASSAY_FOUND);
    if (number < KASSAY_MOST_REPORTS) {
        __global uint *report = probe + KASSAY_REPORTS + KASSAY_REPORT_WORDS * number;
        report[0] = site;
        report[1] = other_site;
        report[2] = group;
        report[3] = other_group;
        report[4] = items;
        report[5] = object;
        report[6] = (uint)offset;
        report[7] = (uint)(offset >> 32);
    }
}

KASSAY_INLINE static void kassay_tell(__global uint *probe, ulong me, uint site, ulong other, uint object, ulong offset) {
    uint items = ((uint)(me >> KASSAY_ITEM) & 0x3ff) | ((uint)(other >> KASSAY_ITEM) & 0x3ff) << 16;
    kassay_report(probe, site, (uint)other & KASSAY_SITES, (uint)(me >> KASSAY_GROUP), (uint)(other >> KASSAY_GROUP),
                  items, object, offset);
}

/* Returns whether `size` bytes at `offset` are within an object of `bytes` bytes. Of an access that can only be to this
 * object (`strict`) it is reported if they are not. */
KASSAY_INLINE static bool kassay_is_within(__global uint *probe, ulong bytes, ulong offset, ulong size, uint strict) {
    /* The same in each iteration of a loop. */
    ulong end = bytes < size ? 0 : bytes - size + 1;
    bool is_within = offset < end;
    if (!is_within && strict != 0) {
        kassay_flag(probe, KASSAY_OUT_OF_BOUNDS);
    }
    return is_within;
}

/* Returns whether a word is of this launch. */
KASSAY_INLINE static bool kassay_is_new(ulong word, uint first) {
    return ((uint)(word >> KASSAY_INTERVAL) & KASSAY_MOST_INTERVAL) >= first;
}

/* Returns whether a word already stands for an access by this work-item in this interval: what conflicts with that one
 * conflicts with the word. */
KASSAY_INLINE static bool kassay_includes(ulong word, ulong me) {
    ulong difference = word ^ me;
    return (word & KASSAY_GROUPS) != 0 || difference >> KASSAY_ITEM == 0 ||
           (difference >> KASSAY_INTERVAL == 0 && (word & KASSAY_ITEMS) != 0);
}

/* Returns whether an access that is not atomic conflicts with those that a word of this launch stands for, if one of them
 * writes. */
KASSAY_INLINE static bool kassay_conflicts(ulong word, ulong me) {
    ulong difference = word ^ me;
    return (word & KASSAY_GROUPS) != 0 || difference >> KASSAY_GROUP != 0 ||
           (difference >> KASSAY_INTERVAL == 0 && ((word & KASSAY_ITEMS) != 0 || difference >> KASSAY_ITEM != 0));
}

/* The flags of a word that takes the place of `word`: for accesses of the same kind. */
KASSAY_INLINE static ulong kassay_flags(ulong word, ulong me) {
    ulong difference = word ^ me;
    if ((word & KASSAY_GROUPS) != 0 || difference >> KASSAY_GROUP != 0) {
        return KASSAY_GROUPS;
    }
    bool several = difference >> KASSAY_INTERVAL == 0 && ((word & KASSAY_ITEMS) != 0 || difference >> KASSAY_ITEM != 0);
    return several ? KASSAY_ITEMS : 0;
}

/* Adds flags to the word that was just written, because it took the place of another one than was seen before. If it has
 * been replaced meanwhile, the work-item that did so has its flags from it; only that there are several groups stays true. */
static void kassay_add(volatile __global ulong *place, ulong mine, ulong more) {
    while (more != 0) {
        ulong now = atom_cmpxchg(place, mine, mine | more);
        if (now == mine || (now & KASSAY_GROUPS) != 0) {
            return;
        }
        mine = now;
        more &= KASSAY_GROUPS;
    }
}

/* Enters the reader's word `mine` where `reader` was seen, with the flags of one that came between. Returns the writer's word,
 * which is read afterwards: of a read and a write at the same time, at least one sees the other. */
KASSAY_INLINE static ulong kassay_enter_reader(__global ulong *cell, ulong reader, ulong mine, ulong me, uint first) {
    ulong old = atom_xchg((volatile __global ulong *)cell + 1, mine);
    if (old != reader && kassay_is_new(old, first)) {
        kassay_add((volatile __global ulong *)cell + 1, mine, kassay_flags(old, me) & ~mine);
    }
    return *(volatile __global ulong *)cell;
}

KASSAY_INLINE static void kassay_read(__global uint *probe, __global ulong *cell, ulong me, uint first, uint site,
                                      uint object, ulong offset) {
    ulong reader = cell[1];
    bool is_new = kassay_is_new(reader, first);
    if (is_new && (reader & KASSAY_ATOMIC) == 0 &&
        ((reader & KASSAY_PLAIN) == 0 ? kassay_includes(reader, me) : (reader ^ me) >> KASSAY_ITEM == 0)) {
        return;
    }
    ulong mine = me | site | (is_new ? kassay_flags(reader, me) : 0);
    ulong writer = kassay_enter_reader(cell, reader, mine, me, first);
    if (kassay_is_new(writer, first) && kassay_conflicts(writer, me)) {
        kassay_tell(probe, me, site, writer, object, offset);
    }
}

/* A write that a work-item is expected to make once: it need not look whether it wrote the cell before. */
KASSAY_INLINE static void kassay_write_once(__global uint *probe, __global ulong *cell, ulong me, uint first, uint site,
                                            uint object, ulong offset) {
    ulong writer = atom_xchg((volatile __global ulong *)cell, me | site);
    ulong reader = *((volatile __global ulong *)cell + 1);
    bool by_writer = kassay_is_new(writer, first) && kassay_conflicts(writer, me);
    bool by_reader = kassay_is_new(reader, first) && kassay_conflicts(reader, me);
    if (by_writer || by_reader) {
        kassay_tell(probe, me, site, by_writer ? writer : reader, object, offset);
    }
}

KASSAY_INLINE static void kassay_write(__global uint *probe, __global ulong *cell, ulong me, uint first, uint site,
                                       uint object, ulong offset) {
    ulong writer = *(volatile __global ulong *)cell;
    if ((writer ^ me) >> KASSAY_ITEM != 0 || (writer & KASSAY_ATOMIC) != 0) {
        kassay_write_once(probe, cell, me, first, site, object, offset);
    }
}

/* The flags of an atomic access's word that takes the place of `word`, which is of this launch. */
KASSAY_INLINE static ulong kassay_atomic_flags(ulong word, ulong me) {
    bool is_atomic = (word & KASSAY_ATOMIC) != 0;
    bool is_same_group = (word ^ me) >> KASSAY_GROUP == 0;
    ulong plain = is_same_group && (!is_atomic || (word & KASSAY_PLAIN) != 0) ? KASSAY_PLAIN : 0;
    return plain | (is_atomic ? kassay_flags(word, me) : 0);
}

/* Returns whether an atomic access conflicts with those that a word of this launch stands for. */
KASSAY_INLINE static bool kassay_conflicts_with_atomic(ulong word, ulong me) {
    return (word & KASSAY_ATOMIC) == 0 ? kassay_conflicts(word, me)
                                       : (word & KASSAY_PLAIN) != 0 && (word ^ me) >> KASSAY_GROUP != 0;
}

KASSAY_INLINE static void kassay_atomic(__global uint *probe, __global ulong *cell, ulong me, uint first, uint site,
                                        uint object, ulong offset) {
    ulong writer = *(volatile __global ulong *)cell;
    bool is_new = kassay_is_new(writer, first);
    /* An own write that is not atomic conflicts with more. */
    if (is_new && ((writer ^ me) >> KASSAY_ITEM == 0 || ((writer & KASSAY_ATOMIC) != 0 && kassay_includes(writer, me)))) {
        return;
    }
    ulong mine = me | KASSAY_ATOMIC | site | (is_new ? kassay_atomic_flags(writer, me) : 0);
    ulong old = atom_xchg((volatile __global ulong *)cell, mine);
    bool by_writer = false;
    if (kassay_is_new(old, first)) {
        if (old != writer) {
            kassay_add((volatile __global ulong *)cell, mine, kassay_atomic_flags(old, me) & ~mine);
        }
        by_writer = kassay_conflicts_with_atomic(old, me);
    }
    ulong reader = *((volatile __global ulong *)cell + 1);
    bool by_reader = kassay_is_new(reader, first) && kassay_conflicts_with_atomic(reader, me);
    if (by_writer || by_reader) {
        kassay_tell(probe, me, site, by_writer ? old : reader, object, offset);
    }
}

/* The word of an atomic read that takes the place of another reader's. One that was not atomic and would be lost stays, with
 * flags for both; these say nothing of others that are not atomic, which KASSAY_PLAIN marks. */
KASSAY_INLINE static ulong kassay_atomic_reader(ulong reader, bool is_new, ulong me, uint site) {
    if (!is_new) {
        return me | KASSAY_ATOMIC | site;
    }
    bool is_plain = (reader & KASSAY_ATOMIC) == 0 && kassay_conflicts(reader, me);
    return is_plain ? reader | kassay_flags(reader, me) | KASSAY_PLAIN
                    : me | KASSAY_ATOMIC | kassay_atomic_flags(reader, me) | site;
}

/* An atomic access that only reads. */
KASSAY_INLINE static void kassay_atomic_read(__global uint *probe, __global ulong *cell, ulong me, uint first,
                                             uint site, uint object, ulong offset) {
    ulong reader = *((volatile __global ulong *)cell + 1);
    bool is_new = kassay_is_new(reader, first);
    if (is_new && kassay_includes(reader, me)) {
        return;
    }
    ulong mine = kassay_atomic_reader(reader, is_new, me, site);
    ulong writer = kassay_enter_reader(cell, reader, mine, me, first);
    if (kassay_is_new(writer, first) && kassay_conflicts_with_atomic(writer, me)) {
        kassay_tell(probe, me, site, writer, object, offset);
    }
}

/* A compare-exchange, which only reads if it does not succeed. */
KASSAY_INLINE static void kassay_exchange(__global uint *probe, __global ulong *cell, ulong me, uint first, uint site,
                                          uint object, ulong offset, uint succeeded) {
    if (succeeded != 0) {
        kassay_atomic(probe, cell, me, first, site, object, offset);
    } else {
        kassay_atomic_read(probe, cell, me, first, site, object, offset);
    }
}

/* An access to `size` bytes at `offset` of an object of `bytes` bytes, with cells of 2^`shift` bytes: each kind, to one
 * cell and to all. */
#define KASSAY_COMMA ,
#define KASSAY_ACCESS(KIND, PARAMETER, ARGUMENT)                                                                       \
    KASSAY_INLINE void __kassay_race_##KIND(__global uint *probe, __global ulong *cells, ulong bytes, ulong offset,    \
                                            ulong size, uint shift, ulong me, uint first, uint site, uint object,      \
                                            uint strict PARAMETER) {                                                   \
        if (kassay_is_within(probe, bytes, offset, size, strict)) {                                                    \
            kassay_##KIND(probe, cells + (offset >> shift) * 2, me, first, site, object, offset ARGUMENT);             \
        }                                                                                                              \
    }                                                                                                                  \
    KASSAY_INLINE void __kassay_race_##KIND##_all(__global uint *probe, __global ulong *cells, ulong bytes,            \
                                                  ulong offset, ulong size, uint shift, ulong me, uint first,          \
                                                  uint site, uint object, uint strict PARAMETER) {                     \
        if (size != 0 && kassay_is_within(probe, bytes, offset, size, strict)) {                                       \
            ulong last = (offset + size - 1) >> shift;                                                                 \
            for (ulong i = offset >> shift; i <= last; i++) {                                                          \
                kassay_##KIND(probe, cells + i * 2, me, first, site, object, i << shift ARGUMENT);                     \
            }                                                                                                          \
        }                                                                                                              \
    }

KASSAY_ACCESS(read, , )
KASSAY_ACCESS(write, , )
KASSAY_ACCESS(write_once, , )
KASSAY_ACCESS(atomic, , )
KASSAY_ACCESS(atomic_read, , )
KASSAY_ACCESS(exchange, KASSAY_COMMA uint succeeded, KASSAY_COMMA succeeded)

/* Local memory with its shadow in local memory. Everyone is of one group, and only one interval matters. */

KASSAY_INLINE static __local uint *kassay_local_cell(__local uint *shadow, uint number) {
    return shadow + KASSAY_MEETINGS + number * 2;
}

KASSAY_INLINE static bool kassay_local_conflicts(uint word, uint me) {
    uint difference = word ^ me;
    return difference >> KASSAY_LOCAL_INTERVAL == 0 &&
           ((word & KASSAY_LOCAL_ITEMS) != 0 || difference >> KASSAY_LOCAL_ITEM != 0);
}

/* Returns whether what a word stands for includes an access by this work-item in this interval. */
KASSAY_INLINE static bool kassay_local_includes(uint word, uint me) {
    uint difference = word ^ me;
    return difference >> KASSAY_LOCAL_ITEM == 0 ||
           (difference >> KASSAY_LOCAL_INTERVAL == 0 && (word & KASSAY_LOCAL_ITEMS) != 0);
}

/* Returns whether an atomic access conflicts with those that a word stands for. */
KASSAY_INLINE static bool kassay_local_conflicts_with_atomic(uint word, uint me) {
    return (word & KASSAY_LOCAL_ATOMIC) == 0 && kassay_local_conflicts(word, me);
}

KASSAY_INLINE static void kassay_local_tell(__global uint *probe, uint me, uint site, uint other, uint object,
                                            ulong offset) {
    uint items = (me >> KASSAY_LOCAL_ITEM & 0x3ff) | (other >> KASSAY_LOCAL_ITEM & 0x3ff) << 16;
    uint group = kassay_group();
    kassay_report(probe, site, other & KASSAY_LOCAL_SITES, group, group, items, object, offset);
}

/* Puts a word into its place; `flags` is what it gets if it takes the place of another work-item's of this interval. */
KASSAY_INLINE static uint kassay_local_put(volatile __local uint *place, uint seen, uint me, uint mine) {
    mine |= kassay_local_conflicts(seen, me) ? KASSAY_LOCAL_ITEMS : 0;
    uint old = atomic_xchg(place, mine);
    if (old != seen && (mine & KASSAY_LOCAL_ITEMS) == 0 && kassay_local_conflicts(old, me)) {
        atomic_cmpxchg(place, mine, mine | KASSAY_LOCAL_ITEMS);
    }
    return old;
}

/* Returns whether another work-item reads the cell in this interval, as far as the two meet: the later one takes the
 * place of the earlier one, which then finds the later one there. What stood there before is never seen. */
KASSAY_INLINE static bool kassay_local_meets(__local uint *shadow, uint number, uint me) {
    volatile __local uint *place = shadow + (number & (KASSAY_MEETINGS - 1));
    uint mine = number << 10 | (me >> KASSAY_LOCAL_ITEM & 0x3ff);
    *place = mine;
    uint now = *place;
    return now != mine && (now ^ mine) >> 10 == 0;
}

/* Of many work-items that read a cell at the same time, few exchange its word, because a device makes exchanges of one word
 * one after the other: those that know of another reader just store theirs with KASSAY_LOCAL_ITEMS. Whatever word of this
 * interval that takes the place of, it says as much. */
KASSAY_INLINE static void kassay_local_read(__global uint *probe, __local uint *shadow, uint number, uint me, uint site,
                                            uint object, ulong offset) {
    __local uint *cell = kassay_local_cell(shadow, number);
    uint reader = cell[1];
    if ((reader & KASSAY_LOCAL_ATOMIC) == 0 &&
        ((reader & KASSAY_LOCAL_MIXED) == 0 ? kassay_local_includes(reader, me)
                                            : (reader ^ me) >> KASSAY_LOCAL_ITEM == 0)) {
        return;
    }
    volatile __local uint *place = cell + 1;
    bool is_known = (reader ^ me) >> KASSAY_LOCAL_INTERVAL != 0
                        ? kassay_local_meets(shadow, number, me)
                        : (reader & (KASSAY_LOCAL_ATOMIC | KASSAY_LOCAL_MIXED)) == 0;
    if (is_known) {
        *place = me | KASSAY_LOCAL_ITEMS | site;
    } else {
        kassay_local_put(place, reader, me, me | site);
    }
    uint writer = *(volatile __local uint *)cell;
    if (kassay_local_conflicts(writer, me)) {
        kassay_local_tell(probe, me, site, writer, object, offset);
    }
}

/* Returns whether neither of the two words of a cell is of this interval, as most are not. */
KASSAY_INLINE static bool kassay_local_are_old(uint reader, uint writer, uint me) {
    return min(reader ^ me, writer ^ me) >> KASSAY_LOCAL_INTERVAL != 0;
}

/* A read by work-items that are expected to read different cells: exchanges of different words do not wait for each other, and then
 * nothing is gained by looking at what is there before. Who finds another reader of this interval then stores that there are several:
 * whatever word of this interval that takes the place of, it says as much. */
KASSAY_INLINE static void kassay_local_read_apart(__global uint *probe, __local uint *shadow, uint number, uint me,
                                                  uint site, uint object, ulong offset) {
    volatile __local uint *cell = kassay_local_cell(shadow, number);
    uint reader = atomic_xchg(cell + 1, me | site);
    uint writer = *cell;
    if (kassay_local_are_old(reader, writer, me)) {
        return;
    }
    if (kassay_local_conflicts(reader, me)) {
        *(cell + 1) = me | KASSAY_LOCAL_ITEMS | site;
    }
    if (kassay_local_conflicts(writer, me)) {
        kassay_local_tell(probe, me, site, writer, object, offset);
    }
}

/* A write by work-items that are expected to write different cells, likewise. */
KASSAY_INLINE static void kassay_local_write_apart(__global uint *probe, __local uint *shadow, uint number, uint me,
                                                   uint site, uint object, ulong offset) {
    volatile __local uint *cell = kassay_local_cell(shadow, number);
    uint writer = atomic_xchg(cell, me | site);
    uint reader = *(cell + 1);
    if (kassay_local_are_old(reader, writer, me)) {
        return;
    }
    bool by_writer = kassay_local_conflicts(writer, me);
    if (by_writer || kassay_local_conflicts(reader, me)) {
        kassay_local_tell(probe, me, site, by_writer ? writer : reader, object, offset);
    }
}

KASSAY_INLINE static void kassay_local_write(__global uint *probe, __local uint *shadow, uint number, uint me,
                                             uint site, uint object, ulong offset) {
    __local uint *cell = kassay_local_cell(shadow, number);
    uint writer = *(volatile __local uint *)cell;
    if ((writer ^ me) >> KASSAY_LOCAL_ITEM != 0 || (writer & KASSAY_LOCAL_ATOMIC) != 0) {
        kassay_local_write_apart(probe, shadow, number, me, site, object, offset);
    }
}

KASSAY_INLINE static void kassay_local_atomic(__global uint *probe, __local uint *shadow, uint number, uint me,
                                              uint site, uint object, ulong offset) {
    __local uint *cell = kassay_local_cell(shadow, number);
    uint writer = *(volatile __local uint *)cell;
    bool is_atomic = (writer & KASSAY_LOCAL_ATOMIC) != 0;
    if ((writer ^ me) >> KASSAY_LOCAL_ITEM == 0 || (is_atomic && kassay_local_includes(writer, me))) {
        return;
    }
    /* What it takes the place of counts only if it is atomic; else it conflicts, and is reported. */
    uint old = kassay_local_put((volatile __local uint *)cell, writer, me, me | KASSAY_LOCAL_ATOMIC | site);
    uint reader = *((volatile __local uint *)cell + 1);
    bool by_writer = kassay_local_conflicts_with_atomic(old, me);
    if (by_writer || kassay_local_conflicts_with_atomic(reader, me)) {
        kassay_local_tell(probe, me, site, by_writer ? old : reader, object, offset);
    }
}

KASSAY_INLINE static void kassay_local_atomic_read(__global uint *probe, __local uint *shadow, uint number, uint me,
                                                   uint site, uint object, ulong offset) {
    __local uint *cell = kassay_local_cell(shadow, number);
    uint reader = *((volatile __local uint *)cell + 1);
    if (kassay_local_includes(reader, me)) {
        return;
    }
    volatile __local uint *place = (volatile __local uint *)cell + 1;
    if (kassay_local_conflicts_with_atomic(reader, me)) {
        /* A reader of this interval that is not atomic must not be lost. */
        atomic_or(place, KASSAY_LOCAL_ITEMS | KASSAY_LOCAL_MIXED);
    } else {
        kassay_local_put(place, reader, me, me | KASSAY_LOCAL_ATOMIC | site);
    }
    uint writer = *(volatile __local uint *)cell;
    if (kassay_local_conflicts_with_atomic(writer, me)) {
        kassay_local_tell(probe, me, site, writer, object, offset);
    }
}

KASSAY_INLINE static void kassay_local_exchange(__global uint *probe, __local uint *shadow, uint number, uint me,
                                                uint site, uint object, ulong offset, uint succeeded) {
    if (succeeded != 0) {
        kassay_local_atomic(probe, shadow, number, me, site, object, offset);
    } else {
        kassay_local_atomic_read(probe, shadow, number, me, site, object, offset);
    }
}

#define KASSAY_LOCAL_ACCESS(KIND, PARAMETER, ARGUMENT)                                                                 \
    KASSAY_INLINE void __kassay_race_local_##KIND(__global uint *probe, __local uint *shadow, ulong cells,             \
                                                  ulong bytes, ulong offset, ulong size, uint shift, uint me,          \
                                                  uint site, uint object, uint strict PARAMETER) {                     \
        if (kassay_is_within(probe, bytes, offset, size, strict)) {                                                    \
            uint number = (uint)cells + ((uint)offset >> shift);                                                       \
            kassay_local_##KIND(probe, shadow, number, me, site, object, offset ARGUMENT);                             \
        }                                                                                                              \
    }                                                                                                                  \
    KASSAY_INLINE void __kassay_race_local_##KIND##_all(__global uint *probe, __local uint *shadow, ulong cells,       \
                                                        ulong bytes, ulong offset, ulong size, uint shift, uint me,    \
                                                        uint site, uint object, uint strict PARAMETER) {               \
        if (size != 0 && kassay_is_within(probe, bytes, offset, size, strict)) {                                       \
            uint last = (uint)((offset + size - 1) >> shift);                                                          \
            for (uint i = (uint)offset >> shift; i <= last; i++) {                                                     \
                uint number = (uint)cells + i;                                                                         \
                kassay_local_##KIND(probe, shadow, number, me, site, object, (ulong)i << shift ARGUMENT);              \
            }                                                                                                          \
        }                                                                                                              \
    }

KASSAY_LOCAL_ACCESS(read, , )
KASSAY_LOCAL_ACCESS(read_apart, , )
KASSAY_LOCAL_ACCESS(write, , )
KASSAY_LOCAL_ACCESS(write_apart, , )
KASSAY_LOCAL_ACCESS(atomic, , )
KASSAY_LOCAL_ACCESS(atomic_read, , )
KASSAY_LOCAL_ACCESS(exchange, KASSAY_COMMA uint succeeded, KASSAY_COMMA succeeded)
