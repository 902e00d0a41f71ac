import type { DeliveryCall } from '@countersign/client'

/** The request of an attempt as a command of a shell. The signature in it is as old as the attempt. */
export function curlOf({ url, headers }: DeliveryCall, body: string | null): string {
  const parts = ['curl', '-X', 'POST', quote(url)]
  for (const [name, value] of Object.entries(headers)) parts.push('-H', quote(`${name}: ${value}`))
  if (body !== null) parts.push('--data-raw', quote(body))
  return parts.join(' ')
}

// POSIX: within single quotes only their end has a meaning.
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
