// A list page is declared: its permission, its method of the client, its columns, filters and actions. Cursor and filters
// stand in the address, so that Back, a reload and a link show the same rows.

import type { PageOf, Pages } from '@countersign/client'
import { Alert, Button, Code, Group, Menu, Skeleton, Stack, Table, Text, Title, VisuallyHidden } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { ChevronLeft, ChevronRight, Columns3, Download, RotateCcw } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { isActive, whileActive } from '../app/activity.ts'
import { addressOf } from '../app/address.ts'
import { clientOf } from '../app/client.ts'
import { useSession } from '../app/session.tsx'
import { Failed, Forbidden } from '../parts/failed.tsx'
import { formatNumber } from '../parts/measures.ts'
import { SCROLLABLE } from '../parts/scrollable.ts'
import { exportRows } from './export.ts'
import { type Filter, FilterBar } from './filters.tsx'
import { useRowKeys } from './row-keys.ts'

export type Client = ReturnType<typeof clientOf>
export type Query = Record<string, string | undefined>

export interface Column<Row> {
  name: string
  title: string
  show(row: Row): ReactNode
  /** Numbers stand at the right. */
  isNumber?: boolean
  /** Shown only when it is chosen. */
  isHidden?: boolean
}

export interface ListPage<Row> {
  title: string
  permission: string
  /** A sentence below the title. */
  about?: string
  /** Distinguishes its rows in the cache, and its chosen columns in the browser. */
  name: string
  /** The arguments are the filters and `cursor`, `limit`. */
  list(client: Client, query: Query): Pages<Row, PageOf<Row>>
  idOf(row: Row): string
  columns: readonly Column<Row>[]
  filters?: readonly Filter[]
  /** Where a row leads, below the environment, with a query if any; undefined: nowhere. */
  pathOf?(row: Row): string | undefined
  /** Buttons beside the title. */
  actions?: ReactNode
  /** Buttons of a row. */
  rowActions?(row: Row): ReactNode
  /** Without a filter and without a row: what makes the first one. */
  empty: { sentence: string; curl?: string }
}

const PAGE_SIZE = 50
const REFRESH_MS = 15_000

export function List<Row>({ page }: { page: ListPage<Row> }) {
  const { may } = useSession()
  return may(page.permission) ? <Rows page={page} /> : <Forbidden permission={page.permission} />
}

function Rows<Row>({ page }: { page: ListPage<Row> }) {
  const { environment } = useSession()
  const navigate = useNavigate()
  const search = useLocation({ select: ({ search: found }) => found as Query })
  const path = useLocation({ select: ({ pathname }) => pathname })
  const client = clientOf(environment)
  const [hidden, setHidden] = useLocalStorage<string[]>({
    key: `countersign.columns.${page.name}`,
    defaultValue: page.columns.filter(({ isHidden }) => isHidden === true).map(({ name }) => name),
  })
  const { cursor, ...filters } = search
  const isFirst = cursor === undefined
  const query = useQuery({
    queryKey: ['list', page.name, environment, search],
    queryFn: () => page.list(client, { ...filters, cursor, limit: `${PAGE_SIZE}` }).page(),
    placeholderData: keepPreviousData,
  })
  const news = useNews({ page, isFirst, filters, shown: query.data?.data })
  const rows = query.data?.data ?? []
  const columns = page.columns.filter(({ name }) => !hidden.includes(name))
  const open = (row: Row) => {
    const to = page.pathOf?.(row)
    if (to !== undefined) void navigate(addressOf(environment, to))
  }
  const { current, setCurrent } = useRowKeys(rows.length, (index) => {
    const row = rows[index]
    if (row !== undefined) open(row)
  })
  const go = (changes: Query) =>
    void navigate({ to: path, search: { ...filters, ...changes } as never, resetScroll: false })

  const table = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows have no current one
  useEffect(() => setCurrent(-1), [cursor])

  return (
    <Stack>
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={1} size="h3">
            {page.title}
          </Title>
          {page.about !== undefined && (
            <Text size="sm" c="dimmed" maw={720}>
              {page.about}
            </Text>
          )}
        </div>
        <Group gap="xs">
          {page.actions}
          <Export page={page} filters={filters} />
          <ColumnMenu columns={page.columns} hidden={hidden} onChange={setHidden} />
        </Group>
      </Group>
      {page.filters !== undefined && <FilterBar filters={page.filters} values={filters} onChange={go} />}
      {news > 0 && (
        <Alert py={6} role="status">
          <Button size="compact-sm" variant="subtle" onClick={() => void query.refetch()}>
            {news === 1 ? '1 new row: show it' : `${formatNumber(news)} new rows: show them`}
          </Button>
        </Alert>
      )}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading columns={columns.length} />}
      {query.isSuccess && rows.length === 0 && <Empty page={page} filters={filters} onClear={() => go({})} />}
      {rows.length > 0 && (
        <div ref={table}>
          <Table.ScrollContainer minWidth={Math.min(columns.length * 110, 900)} type="native" {...SCROLLABLE}>
            <Table highlightOnHover verticalSpacing={6} aria-label={page.title} aria-busy={query.isFetching}>
              <Table.Thead>
                <Table.Tr>
                  {columns.map(({ name, title, isNumber }) => (
                    <Table.Th key={name} ta={isNumber === true ? 'right' : undefined}>
                      {title}
                    </Table.Th>
                  ))}
                  {page.rowActions !== undefined && (
                    <Table.Th>
                      <VisuallyHidden>Actions</VisuallyHidden>
                    </Table.Th>
                  )}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.map((row, index) => (
                  <Table.Tr
                    key={page.idOf(row)}
                    data-current={index === current}
                    onClick={(event) => {
                      // A form that a button of the row opened is no part of the row, and its clicks arrive here, too.
                      if (!event.currentTarget.contains(event.target as Element)) return
                      // A link, button or selected text of the row has its own meaning.
                      if ((event.target as Element).closest('a, button, input') !== null) return
                      if (window.getSelection()?.toString() !== '') return
                      open(row)
                    }}
                    style={page.pathOf === undefined ? undefined : { cursor: 'pointer' }}
                  >
                    {columns.map(({ name, show, isNumber }) => (
                      <Table.Td key={name} ta={isNumber === true ? 'right' : undefined}>
                        {show(row)}
                      </Table.Td>
                    ))}
                    {page.rowActions !== undefined && <Table.Td ta="right">{page.rowActions(row)}</Table.Td>}
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        </div>
      )}
      {(!isFirst || query.data?.hasMore === true) && (
        <Group justify="flex-end" gap="xs">
          <Button
            variant="default"
            size="xs"
            disabled={isFirst}
            leftSection={<ChevronLeft size={14} />}
            onClick={() => go({})}
          >
            First page
          </Button>
          <Button
            variant="default"
            size="xs"
            disabled={query.data?.hasMore !== true || query.isPlaceholderData}
            rightSection={<ChevronRight size={14} />}
            onClick={() => go({ cursor: query.data?.nextCursor ?? undefined })}
          >
            Next page
          </Button>
        </Group>
      )}
    </Stack>
  )
}

/** How many rows are before those shown. They are announced, and not put under the pointer of a person who reads. */
function useNews<Row>({
  page,
  isFirst,
  filters,
  shown,
}: {
  page: ListPage<Row>
  isFirst: boolean
  filters: Query
  shown: readonly Row[] | undefined
}): number {
  const { environment } = useSession()
  const { data } = useQuery({
    queryKey: ['news', page.name, environment, filters],
    queryFn: () => page.list(clientOf(environment), { ...filters, limit: '20' }).page(),
    enabled: () => isFirst && shown !== undefined && isActive(),
    refetchInterval: whileActive(REFRESH_MS),
    staleTime: REFRESH_MS,
  })
  if (!isFirst || data === undefined || shown === undefined) return 0
  const known = new Set(shown.map((row) => page.idOf(row)))
  return data.data.filter((row) => !known.has(page.idOf(row))).length
}

function Loading({ columns }: { columns: number }) {
  return (
    <Stack gap={8} aria-label="Loading" role="status">
      {Array.from({ length: 12 }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike
        <Skeleton key={index} height={30} maw={columns * 240} />
      ))}
    </Stack>
  )
}

function Empty<Row>({ page, filters, onClear }: { page: ListPage<Row>; filters: Query; onClear(): void }) {
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  if (isFiltered) {
    return (
      <Alert title="Nothing matches these filters">
        <Button size="xs" variant="light" onClick={onClear} leftSection={<RotateCcw size={14} />}>
          Clear the filters
        </Button>
      </Alert>
    )
  }
  return (
    <Alert title="Nothing here yet">
      <Text size="sm">{page.empty.sentence}</Text>
      {page.empty.curl !== undefined && (
        <Code block mt="sm">
          {page.empty.curl.replaceAll('{base_url}', window.location.origin)}
        </Code>
      )}
    </Alert>
  )
}

function ColumnMenu<Row>({
  columns,
  hidden,
  onChange,
}: {
  columns: readonly Column<Row>[]
  hidden: readonly string[]
  onChange(hidden: string[]): void
}) {
  return (
    <Menu closeOnItemClick={false} position="bottom-end">
      <Menu.Target>
        <Button variant="default" size="xs" leftSection={<Columns3 size={14} />}>
          Columns
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {columns.map(({ name, title }) => (
          <Menu.Item
            key={name}
            role="menuitemcheckbox"
            aria-checked={!hidden.includes(name)}
            leftSection={<input type="checkbox" tabIndex={-1} readOnly checked={!hidden.includes(name)} aria-hidden />}
            onClick={() => onChange(hidden.includes(name) ? hidden.filter((one) => one !== name) : [...hidden, name])}
          >
            {title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function Export<Row>({ page, filters }: { page: ListPage<Row>; filters: Query }) {
  const { environment } = useSession()
  const [count, setCount] = useState<number>()
  const [error, setError] = useState<unknown>()
  const save = async (format: 'ndjson' | 'csv') => {
    setError(undefined)
    setCount(0)
    try {
      const rows = page.list(clientOf(environment), { ...filters, limit: '100' })
      await exportRows(rows, { format, name: page.name, onCount: setCount })
    } catch (cause) {
      setError(cause)
    } finally {
      setCount(undefined)
    }
  }
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" size="xs" loading={count !== undefined} leftSection={<Download size={14} />}>
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>All rows that the filters leave</Menu.Label>
          <Menu.Item onClick={() => void save('csv')}>CSV</Menu.Item>
          <Menu.Item onClick={() => void save('ndjson')}>NDJSON</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {count !== undefined && count > 0 && (
        <Text size="xs" c="dimmed" role="status">
          {formatNumber(count)} rows
        </Text>
      )}
      {error !== undefined && <Failed error={error} />}
    </>
  )
}
