/* Device functions called by infection probes: they set bits of the probe buffer. */

/* Sets bits of a word of the probe buffer. If they are already set, this costs a single read. */
__attribute__((always_inline)) void __kassay_seen(__global uint *probe, uint word, uint mask) {
    if (mask & ~probe[word]) {
        atomic_or(probe + word, mask);
    }
}
