import { describe, expect, test } from 'vitest'
import { findEditor } from '#src/attest/factors/editors.ts'
import { EDITORS } from '../../../capture-kit/stock.ts'

describe('an editor is recognized in', () => {
  test.each([
    ['ACD Systems Digital Imaging', 'ACD Systems'],
    ['ACDSee Ultimate 2021', 'ACDSee'],
    ['Adobe Photoshop CS2 Windows', 'Photoshop'],
    ['Adobe Photoshop Express 9.1 (Android)', 'Photoshop'],
    ['Adobe Photoshop Lightroom Classic 13.5 (Macintosh)', 'Photoshop'],
    ['Adobe Lightroom 8.4 (iOS)', 'Lightroom'],
    ['Adobe Photoshop Camera Raw 15.0', 'Photoshop'],
    ['AdobePhotoshopExpress', 'Photoshop'],
    ['Adobe ImageReady', 'ImageReady'],
    ['Affinity Photo 1.10.6', 'Affinity'],
    ['Aurora HDR 2019', 'Aurora HDR'],
    ['Canva', 'Canva'],
    ['Capture NX 2.4.7 W', 'Capture NX'],
    ['Capture NX-D 1.6.3 M', 'Capture NX-D'],
    ['Capture One 21 Macintosh', 'Capture One'],
    ['Corel PaintShop Pro 21.00', 'Corel'],
    ['darktable 3.8.1', 'darktable'],
    ['digiKam-7.1.0', 'digiKam'],
    ['Digital Photo Professional', 'Digital Photo Professional'],
    ['DxO Optics Pro v6', 'DxO Optics Pro'],
    ['DxO PhotoLab 5.2', 'DxO PhotoLab'],
    ['Facetune2', 'Facetune'],
    ['FastStone Photo Resizer', 'FastStone'],
    ['GIMP 2.10.36', 'GIMP'],
    ['GIMP 2.4.5', 'GIMP'],
    ['ImageMagick 6.9.10-23 Q16 x86_64', 'ImageMagick'],
    ['IrfanView', 'IrfanView'],
    ['krita-5.2.2', 'Krita'],
    ['LightZone 4.1.9', 'LightZone'],
    ['Luminar 4.3.0', 'Luminar'],
    ['Meitu', 'Meitu'],
    ['Microsoft Windows Photo Gallery 6.0.6001.18000', 'Windows Photo Gallery'],
    ['Microsoft Windows Live Photo Gallery 15.4.3555.308', 'Windows Live Photo Gallery'],
    ['Microsoft Windows Photo Viewer 6.1.7600.16385', 'Windows Photo Viewer'],
    ['Windows Photo Editor 10.0.10011.16384', 'Windows Photo Editor'],
    ['ON1 Photo RAW 2023', 'ON1 Photo'],
    ['paint.net 4.2.10', 'Paint.NET'],
    ['Paint.NET v3.5.10', 'Paint.NET'],
    ['Paint Shop Pro Photo 12.00', 'Paint Shop'],
    ['PhotoScape', 'PhotoScape'],
    ['Picasa 3.0', 'Picasa'],
    ['PicsArt', 'PicsArt'],
    ['Pixelmator Pro 3.3.2', 'Pixelmator'],
    ['Polarr Photo Editor', 'Polarr'],
    ['RawTherapee 5.8', 'RawTherapee'],
    ['Shotwell 0.30.8', 'Shotwell'],
    ['Snapseed 2.0', 'Snapseed'],
    ['Topaz DeNoise AI 3.7', 'Topaz DeNoise'],
    ['Topaz Photo AI 2.1', 'Topaz Photo'],
    ['VSCO', 'VSCO'],
    ['Processed with VSCOcam with f2 preset', 'VSCOcam'],
    ['ViewNX 2.7', 'ViewNX'],
    ['XnView MP 0.99', 'XnView'],
    ['XnViewMP', 'XnViewMP'],
    ['com.niksoftware.snapseed', 'Snapseed'],
  ])('%s', (software, editor) => {
    expect(findEditor(software, null)).toBe(editor)
    // In one case there are no words except those that signs separate.
    if (!/^\p{L}+$/u.test(software)) expect(findEditor(software.toUpperCase(), 'Canon')).toBe(editor)
  })

  test.each(EDITORS)('%s, of the capture kit', (software) => expect(findEditor(software, null)).toBeDefined())

  test('a name among others, but not in the maker of the phone that took the photo', () => {
    expect(findEditor('Meitu T8', 'Meitu')).toBeUndefined()
    expect(findEditor('Meitu T8', 'Apple')).toBe('Meitu')
    expect(findEditor('Meitu T8, Snapseed 2', 'Meitu')).toBe('Snapseed')
  })
})

describe('no editor is recognized in firmware', () => {
  test.each([
    // As cameras and phones write it.
    '17.6.1',
    '26.1',
    'HDR+ 1.0.585804376zd',
    'HDR+ 1.0.641377609zd',
    'S921BXXS4AXH1',
    'G550FYXXU1BQG1',
    'FP5.TT4G.A.172.20240804',
    'MediaTek Camera Application',
    'Micromax Canvas HD A116_V1.0',
    'Micromax Canvas 2',
    'Canvas Knight A350',
    'MicromaxCanvasHD_V2',
    'topaz-user 13 TKQ1.221114.001 release-keys',
    'Xiaomi/topaz_global/topaz:13',
    'COOLPIX P6000V1.0',
    'Ver.1.00',
    'NIKON D750 Ver.1.15',
    'Firmware Version 1.0.3',
    'E-M10MarkII  Version 1.0',
    'ILCE-7M3 v4.02',
    'DSC-RX100M7 v1.00',
    'Digital Camera FinePix S5600 Ver1.00',
    'Digital Camera X-T3 Ver4.50',
    'DxO ONE 3.3.0',
    'QuickTime 6.3',
    'PENTAX K-1 Ver 1.52',
    'MON1 build 7',
    'V10N1 Photo',
    'LUMIA 950',
    'Aperture priority 2.0',
    'GIMPEL 2',
    'HUAWEI P30 EMUI 9.1',
    'A520FXXU2BQH4',
    'moto g(7) power',
    'OnePlus ON1',
    'Version 1.0',
    'Kritaka R1',
    '',
  ])('%j', (software) => expect(findEditor(software, null)).toBeUndefined())
})

test('searching for a name takes time linear in the text', () => {
  const startedAt = process.threadCpuUsage()
  findEditor('paint '.repeat(50_000), null)
  findEditor(' '.repeat(50_000), null)
  expect(process.threadCpuUsage(startedAt).user / 1_000).toBeLessThan(1_000)
})
