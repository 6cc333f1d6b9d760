import type { TargetedKeyboardEvent, TargetedPointerEvent, TargetedWheelEvent } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Actions } from '../form/Actions.tsx'
import { Dialog } from '../form/Dialog.tsx'
import { type Action, useActions } from '../form/use-actions.ts'
import { useMessages } from '../frame/Root.tsx'
import { Icon } from '../ui/Icon.tsx'
import { type Crop, changeCrop, firstCrop, moveCrop, placeOf, zoomMax, zoomMin } from './crop.ts'
import type { usePictureWords } from './picture-words.ts'

type Props = {
  picture: ImageBitmap
  kind: 'person' | 'app' | 'organization'
  words: ReturnType<typeof usePictureWords>
  onSave: (picture: Blob) => Promise<void>
  onClose: () => void
}

/** Side of the canvases in pixels: of the shown one, and of what is uploaded at most. */
const shownSide = 640
const savedSide = 512
const step = 0.05
/** A pointer that has moved less far has tapped. */
const tapPixelsMax = 4

/** Lets the user choose the square part of a picture, with a pointer or the keyboard. */
export function CropDialog({ picture, kind, words, onSave, onClose }: Props) {
  const isWhole = kind !== 'person'
  const [crop, setCrop] = useState(() => firstCrop(picture, isWhole))
  const doing = useActions()
  const { frame } = useMessages()
  const zoomTo = (zoom: number) => setCrop((before) => changeCrop(picture, { ...before, zoom }, isWhole))
  const move = (x: number, y: number) => setCrop((before) => moveCrop(picture, before, { x, y }, isWhole))
  const save: Action = { name: 'save-picture', label: words.save, do: async () => onSave(await encode(picture, crop)) }
  const cancel: Action = { name: 'cancel-picture', label: frame.cancel, look: 'ghost', do: onClose }
  return (
    <Dialog title={words.title} onClose={onClose}>
      <CropArea picture={picture} crop={crop} kind={kind} words={words} onMove={move} onZoom={zoomTo} />
      <Zoom value={crop.zoom} min={zoomMin(picture, isWhole)} words={words} onChange={zoomTo} />
      <Actions of={[save, cancel]} doing={doing} />
    </Dialog>
  )
}

type AreaProps = Pick<Props, 'picture' | 'kind' | 'words'> & {
  crop: Crop
  onMove: (x: number, y: number) => void
  onZoom: (zoom: number) => void
}

function CropArea({ picture, crop, kind, words, onMove, onZoom }: AreaProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const id = useId()
  useEffect(() => {
    if (canvas.current) draw(canvas.current, picture, crop)
  }, [picture, crop])
  const pressed = useRef({ x: 0, y: 0 })
  const onPointerDown = ({ currentTarget, pointerId, clientX, clientY }: TargetedPointerEvent<HTMLElement>) => {
    currentTarget.setPointerCapture(pointerId)
    pressed.current = { x: clientX, y: clientY }
  }
  // Moves the tapped point to the center, for users who cannot drag.
  const onPointerUp = ({ currentTarget, clientX, clientY }: TargetedPointerEvent<HTMLElement>) => {
    if (Math.hypot(clientX - pressed.current.x, clientY - pressed.current.y) > tapPixelsMax) return
    const { left, top, width, height } = currentTarget.getBoundingClientRect()
    onMove(0.5 - (clientX - left) / width, 0.5 - (clientY - top) / height)
  }
  const onPointerMove = (event: TargetedPointerEvent<HTMLElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    const { clientWidth } = event.currentTarget
    onMove(event.movementX / clientWidth, event.movementY / clientWidth)
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const direction = directions[event.key]
    if (direction) onMove(direction.x * step, direction.y * step)
    else if (event.key === '+' || event.key === '-') onZoom(crop.zoom * (event.key === '+' ? 1.1 : 1 / 1.1))
    else return
    event.preventDefault()
  }
  const onWheel = (event: TargetedWheelEvent<HTMLElement>) => {
    event.preventDefault()
    onZoom(crop.zoom * (event.deltaY < 0 ? 1.08 : 1 / 1.08))
  }
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Arrow keys move what it shows. */}
      <div
        class={`picture-crop ${kind}`}
        role="group"
        aria-label={words.part}
        aria-describedby={id}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- The keyboard moves the picture here.
        tabIndex={0}
        onKeyDown={onKeyDown}
        onWheel={onWheel}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
      >
        <canvas ref={canvas} width={shownSide} height={shownSide} />
      </div>
      <p class="hint center" id={id}>
        {words.howTo}
      </p>
    </>
  )
}

const directions: Partial<Record<string, { x: number; y: number }>> = {
  ArrowLeft: { x: 1, y: 0 },
  ArrowRight: { x: -1, y: 0 },
  ArrowUp: { x: 0, y: 1 },
  ArrowDown: { x: 0, y: -1 },
}

type ZoomProps = { value: number; min: number; words: Props['words']; onChange: (zoom: number) => void }

function Zoom({ value, min, words, onChange }: ZoomProps) {
  const id = useId()
  return (
    <div class="picture-zoom">
      <label for={id}>{words.zoom}</label>
      <Icon name="image" size="sm" />
      <input
        id={id}
        type="range"
        name="zoom"
        min={min}
        max={zoomMax}
        step="any"
        value={value}
        aria-valuetext={words.zoomIs(Math.round(value * 100))}
        onInput={(event) => onChange(event.currentTarget.valueAsNumber)}
      />
      <Icon name="image" />
    </div>
  )
}

function draw(canvas: HTMLCanvasElement, picture: ImageBitmap, crop: Crop): void {
  const context = canvas.getContext('2d')
  if (!context) throw new Error('this browser draws no pictures')
  const { left, top, width, height } = placeOf(picture, crop, canvas.width)
  context.clearRect(0, 0, canvas.width, canvas.height)
  context.imageSmoothingQuality = 'high'
  context.drawImage(picture, left, top, width, height)
}

/** Encodes the part as WebP, or as PNG in browsers that do not write WebP. Metadata of the file is left behind. */
async function encode(picture: ImageBitmap, crop: Crop): Promise<Blob> {
  const canvas = document.createElement('canvas')
  canvas.width = savedSide
  canvas.height = savedSide
  draw(canvas, picture, crop)
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/webp', 0.95))
  if (!blob) throw new Error('this browser encodes no pictures')
  return blob
}
