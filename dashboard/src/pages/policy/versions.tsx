// Every version of the policy, who made it, and how it differs from the one that applies.

import type { RiskPolicy } from '@countersign/client'
import { Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { formatNumber } from '../../parts/measures.ts'
import { More } from '../../parts/more.tsx'
import { Id, Time } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'
import { Differences } from './comparison.tsx'
import { differencesOf } from './document.ts'

export function Versions({ current, onUse }: { current: RiskPolicy; onUse(version: RiskPolicy): void }) {
  const client = useClient()
  const { environment, may } = useSession()
  const [compared, setCompared] = useState<number>()
  const query = useInfiniteQuery({
    queryKey: ['risk-policy-versions', environment],
    queryFn: ({ pageParam: cursor }) => client.account.riskPolicy.listVersions({ cursor, limit: 20 }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Part title="Versions">
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={24} maw={420} />}
      {query.isSuccess && rows.length === 0 && (
        <Text size="sm" c="dimmed">
          Only the defaults, which are version 0.
        </Text>
      )}
      <Stack gap="xs">
        {rows.map((row) => (
          <div key={row.version}>
            <Group gap="xs">
              <Text size="sm" fw={600}>
                {formatNumber(row.version)}
              </Text>
              <Time at={row.changedAt} />
              <Text size="sm">{row.changedBy?.label ?? <Id id={row.changedBy?.id} />}</Text>
              {row.version === current.version ? (
                <Text size="sm">applies now</Text>
              ) : (
                <>
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    aria-expanded={compared === row.version}
                    aria-label={`Compare version ${row.version}`}
                    onClick={() => setCompared(compared === row.version ? undefined : row.version)}
                  >
                    Compare
                  </Button>
                  {may('policy.write') && (
                    <Button
                      size="compact-xs"
                      variant="subtle"
                      aria-label={`Take version ${row.version} as the draft`}
                      onClick={() => onUse(row)}
                    >
                      Take as the draft
                    </Button>
                  )}
                </>
              )}
            </Group>
            {compared === row.version && (
              <Differences
                mine={`Version ${row.version}`}
                theirs={`Version ${current.version}, now`}
                rows={differencesOf(row.document, current.document)}
              />
            )}
          </div>
        ))}
      </Stack>
      <More query={query}>Earlier versions</More>
    </Part>
  )
}
