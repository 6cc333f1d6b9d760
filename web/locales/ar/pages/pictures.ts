import type { pictureMessages as english } from '../../en/pages/pictures.ts'
import { numberOf } from '../format.ts'

/** Holds the messages of the editor of pictures. They load with it only. In Arabic. */
export const pictureMessages: typeof english = {
  upload: 'رفع صورة',
  change: 'تغيير الصورة',
  remove: 'إزالة',
  hint: 'صورة PNG أو JPEG أو WebP. تختار بعد ذلك الجزء المعروض. يمكنك أيضًا إفلات ملف هنا.',
  title: 'اختر الجزء الذي سيُعرض',
  part: 'الجزء المعروض من الصورة',
  howTo: 'اسحب الصورة، أو اضغط على النقطة التي تريدها في الوسط، أو استخدم مفاتيح الأسهم.',
  zoom: 'التكبير',
  zoomIs: (percent) => `${numberOf(percent)}٪`,
  preview: 'ستظهر هكذا:',
  save: 'حفظ الصورة',
  saved: 'تم حفظ الصورة',
  removed: 'تمت إزالة الصورة',
  color: 'اللون',
  colorHint: 'زينة في صفحة السماح، تحت الشعار. لا يُكتب به أي نص.',
  noColor: 'بلا لون',
  colorSaved: 'تم حفظ اللون',
  problems: {
    unreadable: 'لا يستطيع متصفحك فتح هذا الملف. اختر صورة PNG أو JPEG أو WebP.',
    tooSmall: `هذه الصورة صغيرة جدًا. اختر صورة لا تقل عن ${numberOf(64)} × ${numberOf(64)} بكسل.`,
    tooLarge: `هذا الملف كبير جدًا. اختر صورة لا تزيد على ${numberOf(30)} ميغابايت.`,
  },
}
