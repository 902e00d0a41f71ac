// Screenings of a claim's media, and the results of a capture that later ones replaced.

import { Button, Skeleton, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { formatPercent } from '../../parts/measures.ts'
import { ReasonTags } from '../../parts/reason.tsx'
import { Id, Nothing, Num, Status, Time } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'

export function Screenings({ claimId }: { claimId: string }) {
  const client = useClient()
  const { environment } = useSession()
  const query = useQuery({
    queryKey: ['screenings', environment, claimId],
    queryFn: () => client.screenings.list({ claimId, limit: 20 }).page(),
  })
  const rows = query.data?.data ?? []
  return (
    <Part title="Screenings">
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={24} maw={240} />}
      {query.isSuccess && rows.length === 0 && (
        <Text size="sm" c="dimmed">
          Its media were not screened for signs of synthesis.
        </Text>
      )}
      {rows.length > 0 && (
        <Table.ScrollContainer minWidth={560} type="native">
          <Table fz="sm" verticalSpacing={4} aria-label="Screenings">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Screening</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th ta="right">Generated</Table.Th>
                <Table.Th ta="right">Replaced face</Table.Th>
                <Table.Th>Advisory findings</Table.Th>
                <Table.Th>When</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(({ screeningId, status, failure, genaiScore, deepfakeScore, factors, createdAt }) => (
                <Table.Tr key={screeningId}>
                  <Table.Td>
                    <Id id={screeningId} />
                  </Table.Td>
                  <Table.Td>
                    <Status value={status} />
                    {failure !== null && <Text size="xs">{failure.detail}</Text>}
                  </Table.Td>
                  <Table.Td ta="right">{genaiScore === null ? <Nothing /> : formatPercent(genaiScore)}</Table.Td>
                  <Table.Td ta="right">{deepfakeScore === null ? <Nothing /> : formatPercent(deepfakeScore)}</Table.Td>
                  <Table.Td>
                    <ReasonTags codes={factors.map(({ code }) => code)} />
                  </Table.Td>
                  <Table.Td>
                    <Time at={createdAt} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Part>
  )
}

/** Asked for when it is opened: most captures have no earlier result. */
export function EarlierResults({ attestationId }: { attestationId: string }) {
  const client = useClient()
  const { environment } = useSession()
  const [isOpen, box] = useDisclosure()
  const query = useQuery({
    queryKey: ['results', environment, attestationId],
    queryFn: () => client.claims.attestations.listResults(attestationId, { limit: 20 }).page(),
    enabled: isOpen,
  })
  const rows = query.data?.data ?? []
  return (
    <Stack gap={4} align="flex-start">
      <Button size="compact-xs" variant="subtle" onClick={box.toggle} aria-expanded={isOpen} className="no-print">
        {isOpen ? 'Hide earlier results' : 'Earlier results'}
      </Button>
      {isOpen && query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {isOpen && query.isLoading && <Skeleton height={24} width={240} />}
      {isOpen && query.isSuccess && rows.length === 0 && (
        <Text size="sm" c="dimmed">
          This is the first result: none was replaced.
        </Text>
      )}
      {isOpen && rows.length > 0 && (
        <Table fz="sm" verticalSpacing={2} aria-label="Earlier results">
          <Table.Tbody>
            {rows.map(({ number, riskStatus, riskScore, provenanceStatus, evaluatedAt, replacedAt, policyVersion }) => (
              <Table.Tr key={number}>
                <Table.Td>{number}</Table.Td>
                <Table.Td>
                  <Status value={riskStatus} />
                </Table.Td>
                <Table.Td ta="right">
                  <Num value={riskScore} />
                </Table.Td>
                <Table.Td>
                  <Status value={provenanceStatus} />
                </Table.Td>
                <Table.Td>
                  <Time at={evaluatedAt} />, replaced <Time at={replacedAt} />, risk policy {policyVersion ?? '–'}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  )
}
