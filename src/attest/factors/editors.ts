// Names of image editors as EXIF Software contains them. A name counts only as a word, not within a longer one, so that
// firmware of a "Micromax Canvas HD" does not pass for Canva. Digits and signs may follow, as in "digiKam-7.1.0" and
// "Facetune2". A name that is also a word in firmware (a codename, a camera brand) is listed with more of the product's
// name.

const EDITORS = [
  'ACD Systems',
  'ACDSee',
  'Affinity',
  'AfterShot',
  'Afterlight',
  'AirBrush',
  'Aurora HDR',
  'Background Eraser',
  'BeautyPlus',
  'BeFunky',
  'Camera Raw',
  'Canva',
  'Capture NX',
  'Capture NX-D',
  'Capture One',
  'Clip Studio Paint',
  'Corel',
  'CyberLink',
  'darktable',
  'digiKam',
  'Digital Photo Professional',
  'DxO FilmPack',
  'DxO OpticsPro',
  'DxO Optics Pro',
  'DxO PhotoLab',
  'DxO PureRAW',
  'DxO ViewPoint',
  'FaceApp',
  'Facetune',
  'FastStone',
  'Fotor',
  'GIMP',
  'GraphicsMagick',
  'gThumb',
  'Gwenview',
  'HDR Efex',
  'ibisPaint',
  'ImageMagick',
  'ImageReady',
  'inPixio',
  'iPhoto',
  'IrfanView',
  'Krita',
  'Lensa AI',
  'LightZone',
  'Lightroom',
  'Luminar',
  'Meitu',
  'MeituPic',
  'Movavi',
  'NX Studio',
  'Nik Collection',
  'ON1 Effects',
  'ON1 HDR',
  'ON1 NoNoise',
  'ON1 Photo',
  'ON1 Portrait',
  'ON1 Resize',
  'onOne Software',
  'Paint.NET',
  'PaintShop',
  'Paint Shop',
  'PaintTool SAI',
  'Photo Editor',
  'PhotoDirector',
  'PhotoImpact',
  'Photomatix',
  'Photopea',
  'Photoroom',
  'PhotoScape',
  'Photoshop',
  'Picasa',
  'PicMonkey',
  'PicsArt',
  'Pixelmator',
  'Pixlr',
  'Polarr',
  'PortraitPro',
  'Procreate',
  'PTGui',
  'RawTherapee',
  'Remini',
  'Shotwell',
  'Silver Efex',
  'SILKYPIX',
  'Skylum',
  'Snapseed',
  'Topaz Adjust',
  'Topaz Clean',
  'Topaz DeNoise',
  'Topaz Detail',
  'Topaz Gigapixel',
  'Topaz Labs',
  'Topaz Photo',
  'Topaz Sharpen',
  'Topaz Studio',
  'TouchRetouch',
  'VSCO',
  'VSCOcam',
  'ViewNX',
  'Windows Live Photo Gallery',
  'Windows Photo Editor',
  'Windows Photo Gallery',
  'Windows Photo Viewer',
  'XnConvert',
  'XnView',
  'XnViewMP',
  'YouCam',
  'Zoner Photo Studio',
] as const

/** Makers whose phones write their own name into Software: for their photos the name says nothing. */
const MAKERS: ReadonlySet<string> = new Set(['meitu'])

const NAMES: ReadonlyMap<string, string> = new Map(EDITORS.map((name) => [name.toLowerCase(), name]))
// The longest first: "Windows Photo Gallery" takes precedence over "Photo Gallery".
const LONGEST_FIRST = [...NAMES.keys()].sort((a, b) => b.length - a.length)
const TRACE = new RegExp(`(?<![\\p{L}\\d])(?:${LONGEST_FIRST.map(escaped).join('|')})(?!\\p{L})`, 'giu')

/** The editor that the text names, or undefined. `make`: EXIF Make of the same file. */
export function findEditor(software: string, make: string | null): string | undefined {
  const maker = make?.trim().toLowerCase() ?? ''
  const found = [software, parted(software)].flatMap((text) => [...text.matchAll(TRACE)].map(([one]) => nameOf(one)))
  const name = found.find((one) => !(MAKERS.has(one) && maker.startsWith(one)))
  return name === undefined ? undefined : NAMES.get(name)
}

// "AdobePhotoshopExpress"
function parted(text: string): string {
  return text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
}

function nameOf(match: string): string {
  return match.toLowerCase().replaceAll(/\s+/g, ' ')
}

function escaped(name: string): string {
  return name.replaceAll(/[.+]/g, '\\$&').replaceAll(' ', '\\s+')
}
