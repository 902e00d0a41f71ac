// Shows the first bytes of a stream while the rest arrives. The number of calls and the memory are bounded whatever the
// size of the chunks, so a client that sends single bytes costs no more than one that sends them at once.

const FIRST_LOOK = 64
const MAX_HEAD = 256 * 1024

/**
 * `onHead` sees the head at 64 bytes, then each time it has four times as many, at 256 KiB and at the end of a shorter
 * stream, until it returns true.
 */
export function createHead(onHead: (head: Uint8Array, isWhole: boolean) => boolean) {
  let head = Buffer.alloc(0)
  let size = 0
  let loadSubmissions = FIRST_LOOK
  let isDone = false

  function append(chunk: Uint8Array): void {
    const part = chunk.subarray(0, MAX_HEAD - size)
    if (size + part.byteLength > head.byteLength) {
      const grown = Buffer.allocUnsafe(Math.min(MAX_HEAD, Math.max(4096, (size + part.byteLength) * 2)))
      head.copy(grown, 0, 0, size)
      head = grown
    }
    head.set(part, size)
    size += part.byteLength
  }

  function look(isWhole: boolean): void {
    isDone = onHead(head.subarray(0, size), isWhole) || isWhole || size >= MAX_HEAD
    if (isDone) head = Buffer.alloc(0)
    while (loadSubmissions <= size) loadSubmissions *= 4
  }

  return {
    add(chunk: Uint8Array): void {
      if (isDone) return
      append(chunk)
      if (size >= Math.min(loadSubmissions, MAX_HEAD)) look(false)
    },
    end(): void {
      if (!isDone) look(true)
    },
  }
}
