// ES256 by Web Crypto, which takes r and s of 32 bytes each, and no DER.

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** The coordinates of a key of P-256, as a JWK has them. */
export interface CurvePoint {
  kty: string
  crv: string
  x: string
  y: string
}

export async function isSignedBy(
  { kty, crv, x, y }: CurvePoint,
  signature: Uint8Array<ArrayBuffer>,
  data: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const key = await crypto.subtle.importKey('jwk', { kty, crv, x, y }, ECDSA, false, ['verify'])
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
    return await crypto.subtle.verify(ECDSA, key, signature, data)
  } catch {
    return false
  }
}
