declare module 'subset-font' {
  export type SubsetFontOptions = {
    targetFormat?: 'woff2'
    variationAxes?: Record<string, number | { min: number; max: number }>
  }
  export default function subsetFont(font: Buffer, text: string, options?: SubsetFontOptions): Promise<Buffer>
}
