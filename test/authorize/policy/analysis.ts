import { analyzePolicy, type PolicyFinding } from '#src/authorize/policy/analyze.ts'
import type { PolicyDocument } from '#src/authorize/policy/document.ts'

/** Every finding, without pauses. */
export function analysisOf(document: PolicyDocument): PolicyFinding[] {
  const steps = analyzePolicy(document)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value.findings
  }
}
