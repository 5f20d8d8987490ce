/* What infection probes call, on the device: bits of the probe buffer, set by whichever work-item comes first. */

/* Sets bits of a word of the probe buffer. Bits that are there already cost a read. */
__attribute__((always_inline)) void __kassay_seen(__global uint *probe, uint word, uint mask) {
    if (mask & ~probe[word]) {
        atomic_or(probe + word, mask);
    }
}
