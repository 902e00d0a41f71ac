// What a backend can do with its model. What it can't is refused, and never replaced by something that looks alike.

import { Failure } from '#src/failure.ts'

export interface Capabilities {
  generate: boolean
  /** The residual stream, attention and neurons of a pass. */
  activations: boolean
  attribution: 'exact' | 'grad_x_act' | 'ablation' | 'none'
  canary: 'probe' | 'classifier' | 'none'
  /** Passes with changed activations. */
  intervene: boolean
  /** The same request gives the same tokens and the same readings. */
  deterministic: boolean
}

export type Capability = keyof Capabilities

export const CAPABILITIES = {
  generate: 'complete texts',
  activations: 'show its activations',
  attribution: 'attribute a token to what caused it',
  canary: 'take canary readings',
  intervene: 'run with changed activations',
  deterministic: 'repeat a run',
} as const satisfies Record<Capability, string>

export const hasCapability = (capabilities: Capabilities, needed: Capability): boolean =>
  capabilities[needed] !== false && capabilities[needed] !== 'none'

/** The answer to a request that the model of this name can't serve. */
export function capabilityMissing(model: string, needed: Capability): Failure {
  return new Failure('backend_capability_missing', {
    detail: `The model ${model} can not ${CAPABILITIES[needed]}.`,
    members: { model, capability: needed },
  })
}
