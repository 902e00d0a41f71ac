// The score of a capture as a sum: each factor with its points, its sentence and its evidence. Advisory findings stand
// below a line, as they never count.

import type { Attestation, FactorEvidence } from '@countersign/client'
import { Alert, Button, Card, Code, Divider, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { Evidence } from '../../parts/finding.tsx'
import { formatNumber } from '../../parts/measures.ts'
import { useReasons } from '../../parts/reason.tsx'
import { Status, Time } from '../../parts/values.tsx'

export function Score({ attestation }: { attestation: Attestation }) {
  const { status, failure, riskScore, riskStatus, provenanceStatus, evaluatedAt, rulesVersion, policyVersion } =
    attestation
  const { factors = [], advisoryFactors = [], observations = [] } = attestation
  if (riskScore === undefined) {
    return (
      <Alert color={status === 'failed' ? 'red' : 'gray'} title={SENTENCES[status] ?? status}>
        {failure?.detail}
      </Alert>
    )
  }
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between" mb="xs">
        <Group gap="xs">
          <Status value={riskStatus} />
          <Status value={provenanceStatus} />
        </Group>
        <Text size="xs" c="dimmed">
          {rulesVersion}, risk policy {policyVersion ?? '–'}, <Time at={evaluatedAt} />
        </Text>
      </Group>
      <Stack gap="xs" role="list" aria-label="Factors that count">
        {factors.map(({ code, points, evidence }) => (
          <Finding key={code} code={code} evidence={evidence}>
            <Text fw={600} w={54} ta="right" style={{ flexShrink: 0 }}>
              +{formatNumber(points)}
            </Text>
          </Finding>
        ))}
        {factors.length === 0 && (
          <Text size="sm" role="listitem">
            Nothing was found that counts.
          </Text>
        )}
      </Stack>
      <Group gap="xs" mt="xs" pt={6} style={{ borderTop: '2px solid var(--mantine-color-text)' }}>
        <Text fw={700} w={54} ta="right">
          {formatNumber(riskScore)}
        </Text>
        <Text size="sm">is the score of this capture.</Text>
      </Group>
      {advisoryFactors.length > 0 && (
        <>
          <Divider my="sm" label="Advisory: these do not count" labelPosition="left" />
          <Stack gap="xs" role="list" aria-label="Advisory findings">
            {advisoryFactors.map(({ code, evidence }) => (
              <Finding key={code} code={code} evidence={evidence} />
            ))}
          </Stack>
        </>
      )}
      {observations.length > 0 && (
        <>
          <Divider my="sm" label="Also seen" labelPosition="left" />
          <Stack gap="xs" role="list" aria-label="Observations">
            {observations.map(({ code, evidence }) => (
              <Finding key={code} code={code} evidence={evidence} />
            ))}
          </Stack>
        </>
      )}
    </Card>
  )
}

const SENTENCES: Record<string, string> = {
  queued: 'The capture waits for its evaluation',
  running: 'The capture is being evaluated',
  failed: 'The evaluation failed',
  cancelled: 'The capture was cancelled before its evaluation',
}

/** Evidence of factors that count is open, as a decision needs it. */
function Finding({ code, evidence, children }: { code: string; evidence: FactorEvidence; children?: ReactNode }) {
  const reasons = useReasons()
  const [isOpen, evidenceBox] = useDisclosure(children !== undefined)
  return (
    <Group align="flex-start" wrap="nowrap" gap="xs" role="listitem">
      {children}
      <div style={{ minWidth: 0, flexGrow: 1 }}>
        <Group gap="xs" justify="space-between" wrap="nowrap" align="flex-start">
          <Text size="sm">
            <Code>{code}</Code> {reasons.get(code)?.meaning}
          </Text>
          <Button
            size="compact-xs"
            variant="subtle"
            className="no-print"
            onClick={evidenceBox.toggle}
            aria-expanded={isOpen}
            aria-label={`${isOpen ? 'Less' : 'Evidence'} about ${code}`}
            style={{ flexShrink: 0 }}
          >
            {isOpen ? 'Less' : 'Evidence'}
          </Button>
        </Group>
        {isOpen && <Evidence evidence={evidence} />}
      </div>
    </Group>
  )
}
