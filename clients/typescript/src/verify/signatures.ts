// ES256 by Web Crypto, which takes r and s of 32 bytes each, and no DER.

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** The coordinates of a key of P-256, as a JWK has them. */
export interface CurvePoint {
  kty: string
  crv: string
  x: string
  y: string
}

/** CryptoKey, which programs without the types of browsers don't know by name. */
export type PointKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/** undefined for what is no point of the curve. */
export async function importPoint({ kty, crv, x, y }: CurvePoint): Promise<PointKey | undefined> {
  try {
    return await crypto.subtle.importKey('jwk', { kty, crv, x, y }, ECDSA, false, ['verify'])
  } catch {
    return undefined
  }
}

export async function isSignedBy(
  key: PointKey,
  signature: Uint8Array<ArrayBuffer>,
  data: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  return crypto.subtle.verify(ECDSA, key, signature, data)
}

/** @param spki The key as SubjectPublicKeyInfo. false for one that is no key of P-256. */
export async function isSignedBySpki(
  spki: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  data: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  try {
    const key = await crypto.subtle.importKey('spki', spki, ECDSA, false, ['verify'])
    return await isSignedBy(key, signature, data)
  } catch {
    return false
  }
}
