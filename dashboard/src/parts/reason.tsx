// Reason codes beside their sentences, which the API publishes. They are asked for once.

import type { ReasonCode } from '@countersign/client'
import { Code, Stack, Text, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useClient } from '../app/session.tsx'
import { Nothing } from './values.tsx'

const NONE: ReadonlyMap<string, ReasonCode> = new Map()

/** By code; empty until they have arrived. */
export function useReasons(): ReadonlyMap<string, ReasonCode> {
  const client = useClient()
  const { data } = useQuery({
    queryKey: ['reason-codes'],
    queryFn: async () => {
      const { data } = await client.overview.reasonCodes.list().page()
      return new Map(data.map((reason) => [reason.code, reason]))
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })
  return data ?? NONE
}

/** A code with its sentence. */
export function Reason({ code }: { code: string | null | undefined }) {
  const reasons = useReasons()
  if (code === null || code === undefined) return <Nothing />
  return (
    <span>
      <Code>{code}</Code>{' '}
      <Text span size="sm">
        {reasons.get(code)?.meaning}
      </Text>
    </span>
  )
}

/** Codes for a narrow place: the sentence stands at the pointer and at the focus. */
export function ReasonTags({ codes }: { codes: readonly string[] }) {
  const reasons = useReasons()
  if (codes.length === 0) return <Nothing />
  return (
    <Stack gap={2} align="flex-start">
      {codes.map((code) => (
        <Tooltip key={code} label={reasons.get(code)?.meaning ?? code} multiline maw={360} events={TOOLTIP_EVENTS}>
          <Code tabIndex={0}>{code}</Code>
        </Tooltip>
      ))}
    </Stack>
  )
}

const TOOLTIP_EVENTS = { hover: true, focus: true, touch: true }
