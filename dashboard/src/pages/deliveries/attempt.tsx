// The attempts of a delivery: what was sent, what was answered, and how long each part took.

import type { DeliveryTiming, FullDelivery, FullDeliveryAttempt } from '@countersign/client'
import { Button, Card, Code, CopyButton, Group, Stack, Table, Text } from '@mantine/core'
import { Check, Copy } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatSeconds } from '../../parts/measures.ts'
import { Time } from '../../parts/values.tsx'
import { curlOf } from './curl.ts'

/** The newest first. */
export function Attempts({ delivery }: { delivery: FullDelivery }) {
  if (delivery.attempts.length === 0) return <Text size="sm">It was not tried yet.</Text>
  return (
    <Stack gap="sm">
      {delivery.attempts.toReversed().map((attempt) => (
        <Attempt key={attempt.attempt} attempt={attempt} body={delivery.body} />
      ))}
    </Stack>
  )
}

function Attempt({ attempt, body }: { attempt: FullDeliveryAttempt; body: string | null }) {
  const { request, response, timing } = attempt
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600} size="sm">
            Attempt {attempt.attempt}: {answerOf(attempt)}
          </Text>
          <Time at={attempt.startedAt} />
          {attempt.durationMs !== null && <Text size="sm">{formatSeconds(attempt.durationMs / 1_000)}</Text>}
        </Group>
        {request !== null && <CopyText text={curlOf(request, body)}>Copy as curl</CopyText>}
      </Group>
      {attempt.errorDetail !== null && <Text size="sm">{attempt.errorDetail}</Text>}
      {timing !== null && <Timing timing={timing} total={attempt.durationMs} />}
      {request !== null && (
        <Message title={`Request to ${request.url}`} headers={request.headers}>
          {body === null ? <Text size="sm">The event was deleted, and its text with it.</Text> : <Body text={body} />}
        </Message>
      )}
      {response !== null && (
        <Message title={`Answer${attempt.address === null ? '' : ` of ${attempt.address}`}`} headers={response.headers}>
          {response.body === '' ? <Text size="sm">It has no body.</Text> : <Body text={response.body} />}
          {response.bodyEncoding === 'base64' && <Text size="xs">It is no text, and shown as base64.</Text>}
          {response.isTruncated && <Text size="xs">It was longer; the beginning was kept.</Text>}
        </Message>
      )}
    </Card>
  )
}

/** What came of an attempt, in a few words. */
export function answerOf({
  responseStatus,
  error,
  finishedAt,
}: Pick<FullDeliveryAttempt, 'responseStatus' | 'error' | 'finishedAt'>): string {
  if (responseStatus !== null) return `${responseStatus}`
  if (error !== null) return error.replaceAll('_', ' ')
  return finishedAt === null ? 'no answer yet' : 'no answer'
}

function Message({
  title,
  headers,
  children,
}: {
  title: string
  headers: Record<string, string>
  children: ReactNode
}) {
  return (
    <details>
      <summary style={{ overflowWrap: 'anywhere' }}>{title}</summary>
      <Table verticalSpacing={2} withRowBorders={false} fz="xs">
        <Table.Tbody>
          {Object.entries(headers).map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" w={180} fw={500} style={{ verticalAlign: 'top' }}>
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {children}
    </details>
  )
}

function Body({ text }: { text: string }) {
  return (
    <Code block tabIndex={0} style={{ maxHeight: 320, overflow: 'auto' }}>
      {text}
    </Code>
  )
}

const STEPS: readonly [name: keyof DeliveryTiming, title: string][] = [
  ['dnsMs', 'name'],
  ['connectMs', 'connection'],
  ['tlsMs', 'TLS'],
  ['firstByteMs', 'until the answer began'],
]

function Timing({ timing, total }: { timing: DeliveryTiming; total: number | null }) {
  const steps = STEPS.flatMap(([name, title]) => (timing[name] === null ? [] : [`${title} ${timing[name]} ms`]))
  return (
    <Text size="xs" c="dimmed">
      {[...steps, ...(total === null ? [] : [`in all ${total} ms`])].join(', ')}
    </Text>
  )
}

export function CopyText({ text, children }: { text: string; children: ReactNode }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button
          size="compact-xs"
          variant="default"
          leftSection={copied ? <Check size={12} /> : <Copy size={12} />}
          onClick={copy}
        >
          {children}
        </Button>
      )}
    </CopyButton>
  )
}
