// RFC 9110 12.5.1 for two types: the one that the header prefers.

const TYPES = { pdf: 'application/pdf', json: 'application/json' } as const

/** JSON when both are equal, and when the header accepts neither: the other form is more useful than a refusal. */
export function prefersPdf(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const ranges = accept
    .toLowerCase()
    .slice(0, 2_000)
    .split(',')
    .map((part) => {
      const [range = '', ...parameters] = part.split(';').map((one) => one.trim())
      const q = parameters.find((one) => one.startsWith('q='))
      const weight = q === undefined ? 1 : Number(q.slice(2))
      return { range, weight: weight >= 0 && weight <= 1 ? weight : 0 }
    })
  const weightOf = (type: string) => {
    // The most specific range decides.
    const match = [type, 'application/*', '*/*'].map((name) => ranges.find(({ range }) => range === name)).find(Boolean)
    return match?.weight ?? 0
  }
  return weightOf(TYPES.pdf) > weightOf(TYPES.json)
}
