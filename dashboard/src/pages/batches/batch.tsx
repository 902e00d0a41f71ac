// A batch: how far it is, what was refused and why, what was found, and cancelling what has not started.

import type { Batch, BatchResult } from '@countersign/client'
import { Alert, Anchor, Button, Card, Code, Group, Modal, Progress, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { isActive, whileActive } from '../../app/activity.ts'
import { addressOf, withQuery } from '../../app/address.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { formatNumber } from '../../parts/measures.ts'
import { More } from '../../parts/more.tsx'
import { ReasonTags } from '../../parts/reason.tsx'
import { useOnceKey } from '../../parts/send.tsx'
import { Id, Num, Status, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage, Part } from '../../recipe/detail-page.tsx'
import { type BatchRecord, openUploadStore } from './upload-store.ts'

// The service answers earlier when the batch ends.
const WAIT_SECONDS = 3
const PAGE_SIZE = 50

const page: DetailPage<Batch> = {
  kind: 'Batch',
  name: 'batches',
  permission: 'claims.read',
  listPath: 'batches',
  retrieve: (client, id, signal) => client.claims.batches.retrieve(id, undefined, { signal }),
  statusOf: ({ status }) => status,
  facts: ({ accepted, rejectedCount, repeatedCount, createdAt, cancelledAt }) => [
    ['Captures', <Num key="accepted" value={accepted} />],
    ['Refused', <Num key="rejected" value={rejectedCount} />],
    ['Repeated', <Num key="repeated" value={repeatedCount} />],
    ['Created', <Time key="created" at={createdAt} />],
    ...(cancelledAt === null ? [] : [['Cancelled', <Time key="cancelled" at={cancelledAt} />] as const]),
  ],
  actions: (batch) => <Actions batch={batch} />,
  children: (batch) => <Body first={batch} />,
}

export const Page = () => <Detail page={page} />

const isRunning = ({ accepted, settled }: Batch) => settled < accepted

function Body({ first }: { first: Batch }) {
  const { environment } = useSession()
  const client = useClient()
  const cache = useQueryClient()
  const { batchId } = first
  const key = ['detail', 'batches', environment, batchId]
  useQuery({
    queryKey: ['batch-progress', environment, batchId],
    queryFn: async ({ signal }) => {
      const batch = await client.claims.batches.retrieve(batchId, { wait: WAIT_SECONDS }, { signal })
      cache.setQueryData(key, batch)
      return batch
    },
    enabled: () => isRunning(first) && isActive(),
    refetchInterval: (query) =>
      query.state.data === undefined || isRunning(query.state.data) ? whileActive(500)() : false,
  })
  const record = useQuery({
    queryKey: ['batch-record', batchId],
    queryFn: async () => (await (await openUploadStore()).findBatch(batchId)) ?? null,
    retry: false,
  })
  return (
    <>
      <Running batch={first} />
      <Refused batch={first} record={record.data ?? undefined} />
      <Results batch={first} record={record.data ?? undefined} />
    </>
  )
}

function Running({ batch }: { batch: Batch }) {
  const { environment } = useSession()
  const { accepted, settled, counts, ratePerSecond, estimatedFinishAt, riskHistogram, batchId } = batch
  const share = (count: number) => (accepted === 0 ? 0 : (count / accepted) * 100)
  return (
    <Card withBorder padding="sm">
      <Progress.Root size="lg" aria-label="Progress of the batch">
        <Progress.Section value={share(counts.succeeded)} color="green" aria-label="Evaluated" />
        <Progress.Section value={share(counts.failed)} color="red" aria-label="Failed" />
        <Progress.Section value={share(counts.cancelled)} color="gray" aria-label="Cancelled" />
      </Progress.Root>
      <Text size="sm" mt={4} role="status">
        {formatNumber(settled)} of {formatNumber(accepted)} captures have ended
        {counts.failed === 0 ? '' : `, ${formatNumber(counts.failed)} without a result`}
        {counts.cancelled === 0 ? '' : `, ${formatNumber(counts.cancelled)} cancelled`}
        {ratePerSecond === null ? '' : `, ${formatNumber(ratePerSecond)} a second`}
        {estimatedFinishAt === null ? '' : ', the end is expected '}
        {estimatedFinishAt !== null && <Time at={estimatedFinishAt} />}.
      </Text>
      <Group gap="lg" mt="xs">
        {(['passed', 'review', 'failed'] as const).map((risk) => (
          <Group key={risk} gap={6}>
            <Status value={risk} />
            <Anchor
              component={Link}
              {...addressOf(environment, withQuery('claims', { batchId, riskStatus: risk }))}
              aria-label={`${riskHistogram[risk]} captures with the risk ${risk}: their claims`}
            >
              {formatNumber(riskHistogram[risk])}
            </Anchor>
          </Group>
        ))}
      </Group>
    </Card>
  )
}

interface PartProps {
  batch: Batch
  record: BatchRecord | undefined
}

/** Files that this browser could not send, and lines that the service refused. */
function Refused({ batch, record }: PartProps) {
  const client = useClient()
  const { environment } = useSession()
  const { batchId, rejectedCount } = batch
  const query = useInfiniteQuery({
    queryKey: ['batch-rejected', environment, batchId],
    queryFn: ({ pageParam: cursor }) =>
      client.claims.batches.listRejected(batchId, { cursor, limit: PAGE_SIZE }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    enabled: rejectedCount > 0,
  })
  const ofFiles = record?.refused ?? []
  const lines = query.data?.pages.flatMap(({ data }) => data) ?? []
  if (rejectedCount === 0 && ofFiles.length === 0) return null
  return (
    <Part title="Refused">
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      <Table.ScrollContainer minWidth={420} type="native">
        <Table fz="sm" verticalSpacing={4} aria-label="Refused">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>What</Table.Th>
              <Table.Th>Why</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {ofFiles.map(({ source, code, detail }) => (
              <Table.Tr key={source}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{source}</Table.Td>
                <Table.Td>
                  <Code>{code}</Code> {detail}
                </Table.Td>
              </Table.Tr>
            ))}
            {lines.map(({ line, errors }) => (
              <Table.Tr key={line}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{record?.sources[line - 1] ?? `line ${line}`}</Table.Td>
                <Table.Td>
                  {errors.map(({ pointer, code, detail }) => (
                    <div key={`${pointer} ${code}`}>
                      <Code>{code}</Code> <Code>{pointer}</Code> {detail}
                    </div>
                  ))}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <More query={query}>More</More>
    </Part>
  )
}

function Results({ batch, record }: PartProps) {
  const client = useClient()
  const { environment } = useSession()
  const { batchId, settled, accepted } = batch
  const query = useInfiniteQuery({
    // Read again when the batch has ended.
    queryKey: ['batch-results', environment, batchId, settled === accepted],
    queryFn: async ({ pageParam: cursor, signal }) => {
      const lines: BatchResult[] = []
      // The loop closes the answer when it has enough.
      for await (const line of client.claims.batches.results(batchId, { cursor, include: 'pending' }, { signal })) {
        if ('object' in line) return { lines, next: undefined }
        lines.push(line)
        if (lines.length === PAGE_SIZE) return { lines, next: line.cursor }
      }
      return { lines, next: undefined }
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next,
  })
  const lines = query.data?.pages.flatMap((one) => one.lines) ?? []
  return (
    <Part title="Results">
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && lines.length === 0 && <Alert color="gray">No line was accepted.</Alert>}
      {lines.length > 0 && (
        <Table.ScrollContainer minWidth={560} type="native">
          <Table fz="sm" verticalSpacing={4} aria-label="Results">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Capture</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th>Risk</Table.Th>
                <Table.Th ta="right">Score</Table.Th>
                <Table.Th>Factors</Table.Th>
                <Table.Th>Claim</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {lines.map(({ line, status, failure, riskStatus, riskScore, factors = [], claimId, isRepeat }) => (
                <Table.Tr key={line}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>
                    {record?.sources[line - 1] ?? `line ${line}`}
                  </Table.Td>
                  <Table.Td>
                    <Status value={status} />
                    {isRepeat && <Text size="xs">submitted before</Text>}
                    {failure !== null && <Text size="xs">{failure.detail}</Text>}
                  </Table.Td>
                  <Table.Td>
                    <Status value={riskStatus} />
                  </Table.Td>
                  <Table.Td ta="right">
                    <Num value={riskScore} />
                  </Table.Td>
                  <Table.Td>
                    <ReasonTags codes={factors.map(({ code }) => code)} />
                  </Table.Td>
                  <Table.Td>
                    <Id id={claimId} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <More query={query}>More</More>
    </Part>
  )
}

function Actions({ batch }: { batch: Batch }) {
  const { may } = useSession()
  const { batchId } = batch
  const [isAsked, asked] = useDisclosure()
  return (
    <>
      <Button
        component="a"
        href={`/v1/claims/batches/${batchId}/results`}
        download={`${batchId}.ndjson`}
        variant="default"
        size="xs"
      >
        Download results
      </Button>
      {isRunning(batch) && may('claims.submit') && (
        <Button color="red" variant="light" size="xs" onClick={asked.open}>
          Cancel
        </Button>
      )}
      <Cancel batch={batch} isOpen={isAsked} onClose={asked.close} />
    </>
  )
}

function Cancel({ batch, isOpen, onClose }: { batch: Batch; isOpen: boolean; onClose(): void }) {
  const client = useClient()
  const { environment } = useSession()
  const cache = useQueryClient()
  const { keyOf } = useOnceKey()
  const { batchId, accepted, settled } = batch
  const cancel = useMutation({
    mutationFn: () => client.claims.batches.cancel(batchId, { idempotencyKey: keyOf(batchId) }),
    onSuccess: (next) => {
      cache.setQueryData(['detail', 'batches', environment, batchId], next)
      onClose()
    },
  })
  return (
    <Modal opened={isOpen} onClose={onClose} title="Cancel the batch">
      <Stack>
        <Text size="sm">
          {formatNumber(accepted - settled)} captures have not ended. Those that have not started are cancelled, and
          count as never submitted.
        </Text>
        {cancel.isError && <Failed error={cancel.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Keep it
          </Button>
          <Button color="red" loading={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel the batch
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
