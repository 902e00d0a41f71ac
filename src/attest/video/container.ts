import type { ContainerFacts } from './facts.ts'

export interface Walker {
  push(bytes: Uint8Array): void
  end(): ContainerFacts
}

export function createWalker(_type: string): Walker {
  return { push: () => {}, end: () => ({ state: 'unverified', reason: 'unknown_container', offset: null }) }
}
