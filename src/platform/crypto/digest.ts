import { hash, timingSafeEqual } from 'node:crypto'

export function sha256(data: Uint8Array | string): Buffer {
  return hash('sha256', data, 'buffer')
}

/** Lower case. */
export function sha256Hex(data: Uint8Array | string): string {
  return hash('sha256', data, 'hex')
}

/** RFC 4648 section 5, without padding. */
export function sha256Base64url(data: Uint8Array | string): string {
  return hash('sha256', data, 'base64url')
}

/** In constant time for equal lengths; the lengths are not secret. */
export function isEqualBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}
