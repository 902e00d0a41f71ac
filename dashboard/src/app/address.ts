// Addresses below /app/<environment>/, with their query.

/** The arguments of a link or a navigation to `cases?queue=mine`. */
export function addressOf(environment: string, path: string) {
  const [pathname = '', query = ''] = path.split('?', 2)
  return { to: `/${environment}/${pathname}`, search: Object.fromEntries(new URLSearchParams(query)) as never }
}

/** A path with the values that are known as its query. */
export function withQuery(path: string, query: Record<string, string | undefined>): string {
  const known = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return known.length === 0 ? path : `${path}?${new URLSearchParams(known)}`
}
