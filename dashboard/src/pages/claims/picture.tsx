// Photos: a small picture that the service makes, the original on request, and the EXIF that the file carries.

import { ActionIcon, Anchor, Button, Center, Code, Group, Modal, Skeleton, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Maximize, Minus, Plus } from 'lucide-react'
import { type PointerEvent, useEffect, useRef, useState } from 'react'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { formatBytes, formatNumber } from '../../parts/measures.ts'

// The beginning of a file holds its EXIF.
const EXIF_BYTES = 262_144

/** The small picture of a media id, in a box that does not change its size when the picture arrives. */
export function Thumbnail({ mediaId, height, alt }: { mediaId: string; height: number; alt: string }) {
  const client = useClient()
  const { environment } = useSession()
  const query = useQuery({
    queryKey: ['thumbnail', environment, mediaId],
    queryFn: async ({ signal }) => (await client.media.downloadThumbnail(mediaId, { signal })).blob(),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const url = useObjectUrl(query.data)
  if (query.isPending) return <Skeleton height={height} />
  return (
    <Center h={height} style={{ background: 'var(--mantine-color-default-hover)', overflow: 'hidden' }}>
      {url === undefined ? (
        <Text size="sm" c="dimmed" ta="center" px="xs">
          {query.isError ? 'The picture can not be shown: it was erased, or this service can not read its pixels.' : ''}
        </Text>
      ) : (
        <img src={url} alt={alt} style={{ maxHeight: '100%', maxWidth: '100%', objectFit: 'contain' }} />
      )}
    </Center>
  )
}

function useObjectUrl(blob: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (blob === undefined) return
    const made = URL.createObjectURL(blob)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [blob])
  return blob === undefined ? undefined : url
}

export function Photo({ mediaId }: { mediaId: string }) {
  const client = useClient()
  const { environment } = useSession()
  const [isZoomed, zoom] = useDisclosure()
  const [hasExif, exif] = useDisclosure()
  const { data: media } = useQuery({
    queryKey: ['media', environment, mediaId],
    queryFn: ({ signal }) => client.media.retrieve(mediaId, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <div>
      <button
        type="button"
        onClick={zoom.open}
        aria-label="Show the original photo"
        style={{ all: 'unset', display: 'block', width: '100%', cursor: 'zoom-in' }}
        className="photo"
      >
        <Thumbnail mediaId={mediaId} height={260} alt="The submitted photo" />
      </button>
      <Group gap="xs" mt={4}>
        <Text size="xs" c="dimmed">
          {media === undefined
            ? ' '
            : `${media.contentType}, ${media.width === null ? '' : `${formatNumber(media.width)} × ${formatNumber(media.height ?? 0)}, `}${formatBytes(media.size)}`}
        </Text>
        <Button size="compact-xs" variant="subtle" onClick={exif.toggle} aria-expanded={hasExif} className="no-print">
          {hasExif ? 'Hide EXIF' : 'EXIF'}
        </Button>
        <Anchor size="xs" href={`/v1/media/${mediaId}`} download className="no-print">
          Download
        </Anchor>
      </Group>
      {hasExif && <Exif mediaId={mediaId} />}
      {isZoomed && <Zoom mediaId={mediaId} onClose={zoom.close} />}
    </div>
  )
}

const STEP = 1.5
const MAX_SCALE = 20

/** The original, as the browser loads it: large files appear line by line. */
function Zoom({ mediaId, onClose }: { mediaId: string; onClose(): void }) {
  const [scale, setScale] = useState(1)
  const [offset, setOffset] = useState({ x: 0, y: 0 })
  const [isBroken, setIsBroken] = useState(false)
  const grip = useRef<{ x: number; y: number } | undefined>(undefined)
  const set = (next: number) => {
    const bounded = Math.min(Math.max(next, 1), MAX_SCALE)
    setScale(bounded)
    if (bounded === 1) setOffset({ x: 0, y: 0 })
  }
  const move = (event: PointerEvent) => {
    if (grip.current === undefined || scale === 1) return
    const { x, y } = grip.current
    setOffset(({ x: left, y: top }) => ({ x: left + event.clientX - x, y: top + event.clientY - y }))
    grip.current = { x: event.clientX, y: event.clientY }
  }
  return (
    <Modal
      opened
      onClose={onClose}
      fullScreen
      title={
        <Group gap="xs">
          <Text size="sm">The original</Text>
          <ActionIcon variant="default" aria-label="Larger" onClick={() => set(scale * STEP)}>
            <Plus size={16} />
          </ActionIcon>
          <ActionIcon variant="default" aria-label="Smaller" onClick={() => set(scale / STEP)}>
            <Minus size={16} />
          </ActionIcon>
          <ActionIcon variant="default" aria-label="Fit the window" onClick={() => set(1)}>
            <Maximize size={16} />
          </ActionIcon>
          <Text size="sm" c="dimmed" role="status">
            {formatNumber(Math.round(scale * 100))} %
          </Text>
        </Group>
      }
    >
      {isBroken && (
        <Text size="sm" mb="sm" role="alert">
          This browser can not show the file. It can be <a href={`/v1/media/${mediaId}`}>downloaded</a>.
        </Text>
      )}
      <div
        style={{ height: '82vh', overflow: 'hidden', touchAction: 'none', cursor: scale === 1 ? 'zoom-in' : 'grab' }}
        onWheel={(event) => set(scale * (event.deltaY < 0 ? 1.15 : 1 / 1.15))}
        onPointerDown={(event) => {
          grip.current = { x: event.clientX, y: event.clientY }
          event.currentTarget.setPointerCapture(event.pointerId)
        }}
        onPointerMove={move}
        onPointerUp={() => {
          grip.current = undefined
        }}
      >
        <img
          src={`/v1/media/${mediaId}`}
          alt="The submitted file"
          draggable={false}
          onError={() => setIsBroken(true)}
          style={{
            width: '100%',
            height: '100%',
            objectFit: 'contain',
            transform: `translate(${offset.x}px, ${offset.y}px) scale(${scale})`,
          }}
        />
      </div>
    </Modal>
  )
}

function Exif({ mediaId }: { mediaId: string }) {
  const client = useClient()
  const { environment } = useSession()
  const query = useQuery({
    queryKey: ['exif', environment, mediaId],
    queryFn: async ({ signal }) => {
      const range = `bytes=0-${EXIF_BYTES - 1}`
      const [head, { parse }] = await Promise.all([
        client.media.download(mediaId, { range }, { signal }).then((response) => response.arrayBuffer()),
        import('exifr'),
      ])
      const tags: unknown = await parse(head, { xmp: true, icc: false, iptc: true, translateValues: true }).catch(
        () => undefined,
      )
      return typeof tags === 'object' && tags !== null ? Object.entries(tags).slice(0, 200) : []
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  if (query.isPending) return <Skeleton height={160} mt="xs" />
  if (query.data.length === 0) return <Text size="sm">The file has no EXIF that can be read.</Text>
  return (
    <Table.ScrollContainer minWidth={260} mah={320} type="native">
      <Table fz="xs" verticalSpacing={2} aria-label="EXIF of the file">
        <Table.Tbody>
          {query.data.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" fw={500}>
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <Code>{textOf(value)}</Code>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function textOf(value: unknown): string {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'no date' : value.toISOString()
  if (value instanceof Uint8Array) return `${formatBytes(value.length)} of data`
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.slice(0, 200)
}
