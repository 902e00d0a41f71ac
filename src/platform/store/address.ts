// Parses a store's address: `disk:<folder>`, or `s3://<bucket>/<prefix>?region=<region>&endpoint=<url>`.

export type StoreAddress =
  | { kind: 'disk'; root: string }
  | { kind: 's3'; bucket: string; prefix: string; region: string | undefined; endpoint: string | undefined }

// Amazon's rules for names, which every other server follows.
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
// Characters that need no escaping in a key, without empty parts: a doubled slash would be another folder.
const PREFIX = /^[A-Za-z0-9!_.*'()-]+(\/[A-Za-z0-9!_.*'()-]+)*$/
const PARAMETERS = new Set(['region', 'endpoint'])

/** @throws {Error} with a sentence that says what is wrong. */
export function parseStoreAddress(text: string): StoreAddress {
  const root = /^disk:(.+)$/s.exec(text)?.[1]
  if (root !== undefined) return { kind: 'disk', root }
  if (!text.startsWith('s3:') || !URL.canParse(text)) {
    throw new Error('must be disk:<folder> or s3://<bucket>/<prefix>?region=<region>&endpoint=<url>')
  }
  const { hostname: bucket, pathname, searchParams, username, password, port, hash } = new URL(text)
  if (username !== '' || password !== '')
    throw new Error('must carry no key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  if (!BUCKET.test(bucket) || port !== '' || hash !== '') throw new Error('must name a bucket: s3://<bucket>/<prefix>')
  const prefix = pathname.replace(/^\//, '').replace(/\/$/, '')
  if (prefix !== '' && !PREFIX.test(prefix)) throw new Error('has a prefix with characters that keys should not have')
  for (const name of searchParams.keys()) {
    if (!PARAMETERS.has(name)) throw new Error(`has the parameter ${name}: region and endpoint are known`)
  }
  const endpoint = searchParams.get('endpoint') ?? undefined
  if (endpoint !== undefined && !/^https?:\/\/[^@]+$/.test(endpoint))
    throw new Error('has an endpoint that is no http address')
  return { kind: 's3', bucket, prefix, region: searchParams.get('region') ?? undefined, endpoint }
}
