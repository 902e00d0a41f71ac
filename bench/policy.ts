// What an evaluation of a policy costs: processor time per evaluation, with the rules of a small policy and with a
// thousand, of which a tenth is about the action's type. Pure code, in this process.

import { type CompiledPolicy, compilePolicy } from '#src/authorize/policy/compile.ts'
import { documentSchema, type PolicyDocument } from '#src/authorize/policy/document.ts'
import { evaluatePolicy, NO_ANSWERS } from '#src/authorize/policy/evaluate.ts'
import { PLAIN_FACTS } from '#src/authorize/policy/samples.ts'
import { judgeLimit, judgeRatio, type Options, type Verdict } from './harness.ts'

const FACTS = {
  ...PLAIN_FACTS,
  action_type: 'wire',
  action_payload: { amount: '600.01', to: { iban: 'DE89370400440532013000' } },
  context: { transaction_amount: 100, country: 'DE' },
  device: { id: 'dev', tier: 'tee' as const, enrolled: true },
}
const [FEW, MANY] = [20, 1_000]
const MAX_MICROSECONDS = 300
// A rule costs as much in a long policy as in a short one.
const MAX_RATIO = 1.2

export async function runPolicy({ isQuick, rounds }: Options): Promise<Verdict[]> {
  const times = isQuick ? 10 : 1_000
  const [short, long] = [policyOf(FEW), policyOf(MANY)].map(compilePolicy)
  const microseconds = (policy: CompiledPolicy | undefined, count: number) => {
    const before = process.threadCpuUsage()
    for (let done = 0; policy !== undefined && done < count; done += 1) evaluatePolicy(policy, FACTS, NO_ANSWERS)
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / times
  }
  const own: number[] = []
  const floors: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const [floor, ours] = [microseconds(short, (times * MANY) / FEW), microseconds(long, times)]
    // The first round warms both up.
    if (round > 0) floors.push(floor)
    if (round > 0) own.push(ours)
  }
  const unit = 'µs'
  const label = `one evaluation of ${MANY} rules`
  return [
    judgeRatio({
      name: 'policy',
      unit,
      floor: { label: `${MANY / FEW} evaluations of ${FEW} rules` },
      ours: { label },
      bar: MAX_RATIO,
      isTime: true,
      floors,
      own,
    }),
    judgeLimit({ name: 'policy', label, unit, values: own, max: MAX_MICROSECONDS }),
  ]
}

// A tenth is about wires, the others about the payload of any action. None matches: every rule is looked at to its end.
function policyOf(rules: number): PolicyDocument {
  return documentSchema.parse({
    rules: Array.from({ length: rules }, (_, index) => ({
      id: `rule-${index}`,
      require: { deny: true },
      when: {
        all: [
          ...(index % 10 === 0 ? [{ field: 'action_type', op: 'eq', value: 'wire' }] : []),
          { field: 'action_payload.to.iban', op: 'starts_with', value: 'DE' },
          { field: 'context.transaction_amount', op: 'gt', value: 1_000 + index },
        ],
      },
    })),
  })
}
