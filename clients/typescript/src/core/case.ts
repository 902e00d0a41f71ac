// One rule for names: those of the interface in camelCase, and back.

/** `claim_id` is claimId. Any other form stays as it is, so that `snakeOf` undoes it. */
export function camelOf(name: string): string {
  if (!/^[a-z][a-z0-9]*(?:_[a-z][a-z0-9]*)+$/.test(name)) return name
  return name.replaceAll(/_([a-z])/g, (_whole, letter: string) => letter.toUpperCase())
}

export function snakeOf(name: string): string {
  if (!/^[a-z][A-Za-z0-9]*$/.test(name)) return name
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
