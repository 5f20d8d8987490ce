"""Processes: a pool of two workers that are started anew ("spawn"), each of which opens OpenCL for itself.

Kernels: letters, 6 launches: 2 in the parent, 4 in workers (which does how many is up to the pool).
Special: the workers are other processes of the interpreter and inherit nothing but the environment; they end by the pool's terminate.
"""

import multiprocessing

from opened import cl, context_and_queue, np, require

SOURCE = """
kernel void letters(global const char *text, uint length, global uint *counts)
{
    uint letter = get_global_id(0), count = 0;
    for (uint i = 0; i < length; i++) {
        char c = text[i] | 0x20;
        count += c == 'a' + (char)letter;
    }
    counts[letter] = count;
}
"""


def letters(text):
    context, queue = context_and_queue()
    kernel = cl.Kernel(cl.Program(context, SOURCE).build(), "letters")
    flags = cl.mem_flags
    data = np.frombuffer(text.encode("ascii"), np.int8)
    source = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=data)
    target = cl.Buffer(context, flags.WRITE_ONLY, 26 * 4)
    kernel(queue, (26,), None, source, np.uint32(len(data)), target)
    counts = np.empty(26, np.uint32)
    cl.enqueue_copy(queue, counts, target)
    return counts.tolist()


def expected(text):
    return [text.lower().count(chr(ord("a") + i)) for i in range(26)]


def main():
    texts = ["The kernel runs", "where its program lives", "in 4 processes", "AbCdEfG", "zzz", "nothing new"]
    for text in texts[:2]:
        require(letters(text) == expected(text), f"the letters of '{text}'")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for text, counted in zip(texts[2:], pool.map(letters, texts[2:], chunksize=1)):
            require(counted == expected(text), f"the letters of '{text}' in a worker")
    print("processes: right")


if __name__ == "__main__":
    main()
