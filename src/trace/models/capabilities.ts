// What a backend can do with its model. What it can't is refused, and never replaced by something that looks alike.

import { Failure } from '#src/failure.ts'
import type { AttributionMethod } from '../attribution/attribute.ts'

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

// A backend that is exact has the approximate methods too.
const METHODS: Record<Capabilities['attribution'], readonly AttributionMethod[]> = {
  exact: ['exact', 'grad_x_act', 'ablation'],
  grad_x_act: ['grad_x_act'],
  ablation: ['ablation'],
  none: [],
}

/** The answer where the model can't be attributed by this method: it names those that it has. */
export function findMissingMethod(
  model: string,
  { attribution }: Capabilities,
  method: AttributionMethod,
): Failure | undefined {
  const methods = METHODS[attribution]
  if (methods.includes(method)) return undefined
  if (methods.length === 0) return capabilityMissing(model, 'attribution')
  return new Failure('backend_capability_missing', {
    detail: `The model ${model} can not be attributed by the method ${method}. It can by: ${methods.join(', ')}.`,
    members: { model, capability: 'attribution' },
    errors: [{ pointer: '/method', code: 'unsupported', detail: `must be one of: ${methods.join(', ')}` }],
  })
}
