/** SHA-256 of a text in base64url; empty without a text. Browsers compute hashes over https and on this machine alone. */
export async function hashOf(text: string | undefined): Promise<string> {
  if (text === undefined || window.crypto.subtle === undefined) return ''
  const digest = new Uint8Array(await window.crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return btoa(String.fromCharCode(...digest))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
