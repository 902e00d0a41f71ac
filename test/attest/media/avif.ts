// AVIF files as encoders write them, from one AV1 picture: plain, as a grid of one tile, layered, animated.

import sharp from 'sharp'

interface AvifOptions {
  brands?: [string, ...string[]]
  /** Further properties of the picture's item; a reader must understand an essential one. */
  properties?: { type: string; content: Uint8Array; isEssential: boolean }[]
  /** The picture is the only tile of a grid (ISO/IEC 23008-12 6.6.2.3). */
  isGrid?: boolean
  /** After the boxes of the picture, as `moov` of an animation. */
  more?: Buffer
}

const SIDE = 64

export async function makeAvif(options: AvifOptions = {}): Promise<Buffer> {
  const { brands = ['avif', 'avif', 'mif1', 'miaf'], properties = [], isGrid = false, more = Buffer.alloc(0) } = options
  const pixels = Buffer.alloc(SIDE * SIDE * 3, 90)
  const plain = await sharp(pixels, { raw: { width: SIDE, height: SIDE, channels: 3 } })
    .avif()
    .toBuffer()
  const picture = contentOf(plain, 'mdat')
  const sides = fullBox('ispe', Buffer.concat([u32(SIDE), u32(SIDE)]))
  const shared = [sides, box('av1C', contentOf(plain, 'av1C')), fullBox('pixi', Buffer.from([3, 8, 8, 8]))]
  const own = properties.map(({ type, content }) => box(type, content))
  const ofPicture = [
    [1, false],
    [2, true],
    [3, false],
    ...properties.map(({ isEssential }, index) => [4 + index, isEssential] as const),
  ] as const
  const items = isGrid ? [1, 2] : [1]
  const associations = items.map((id) => (id === 1 ? ofPicture : ([[1, false]] as const)))
  const grid = Buffer.from([0, 0, 0, 0, 0, SIDE, 0, SIDE])

  const head = box(
    'ftyp',
    Buffer.concat([Buffer.from(brands[0]), u32(0), ...brands.slice(1).map((one) => Buffer.from(one))]),
  )
  const metaOf = (pictureAt: number) =>
    fullBox(
      'meta',
      Buffer.concat([
        fullBox('hdlr', Buffer.concat([u32(0), Buffer.from('pict'), Buffer.alloc(13)])),
        fullBox('pitm', u16(isGrid ? 2 : 1)),
        fullBox(
          'iinf',
          Buffer.concat([
            u16(items.length),
            ...items.map((id) =>
              fullBox(
                'infe',
                Buffer.concat([u16(id), u16(0), Buffer.from(id === 1 ? 'av01' : 'grid'), Buffer.alloc(1)]),
                2,
              ),
            ),
          ]),
        ),
        ...(isGrid ? [fullBox('iref', box('dimg', Buffer.concat([u16(2), u16(1), u16(1)])))] : []),
        box(
          'iprp',
          Buffer.concat([
            box('ipco', Buffer.concat([...shared, ...own])),
            fullBox(
              'ipma',
              Buffer.concat([
                u32(items.length),
                ...associations.flatMap((list, index) => [
                  u16(items[index] ?? 0),
                  Buffer.from([list.length, ...list.map(([at, isEssential]) => at | (isEssential ? 0x80 : 0))]),
                ]),
              ]),
            ),
          ]),
        ),
        fullBox(
          'iloc',
          Buffer.concat([
            Buffer.from([0x44, 0]),
            u16(items.length),
            ...items.flatMap((id) => [
              u16(id),
              u16(0),
              u16(1),
              u32(id === 1 ? pictureAt : pictureAt + picture.length),
              u32(id === 1 ? picture.length : grid.length),
            ]),
          ]),
        ),
      ]),
    )
  const pictureAt = head.length + metaOf(0).length + 8
  return Buffer.concat([
    head,
    metaOf(pictureAt),
    box('mdat', Buffer.concat([picture, ...(isGrid ? [grid] : [])])),
    more,
  ])
}

function box(type: string, content: Uint8Array): Buffer {
  return Buffer.concat([u32(8 + content.length), Buffer.from(type), content])
}

function fullBox(type: string, content: Uint8Array, version = 0): Buffer {
  return box(type, Buffer.concat([Buffer.from([version, 0, 0, 0]), content]))
}

// The first box of this type at any depth: a file written by sharp has each type once.
function contentOf(file: Buffer, type: string): Buffer {
  const at = file.indexOf(type, 4, 'latin1')
  return file.subarray(at + 4, at - 4 + file.readUInt32BE(at - 4))
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
