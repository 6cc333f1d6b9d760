import { isolate } from '@countersign/protocol/formats/registries/languages'
import { numberOf } from '../format.ts'
import type { redirectMessages as english } from '../../en/pages/redirect-uris.ts'

/** Holds the messages on redirect URIs. In Arabic. */
export const redirectMessages: typeof english = {
  check: 'هل يفشل تسجيل الدخول مع «invalid redirect URI»؟',
  checkWhat: 'يجب أن يرسل التطبيق نصًا مسجّلًا بالضبط. ألصق ما يرسله لترى الفرق.',
  sent: 'قيمة redirect_uri التي يرسلها التطبيق',
  matches: 'عنوان إعادة التوجيه هذا مسجّل.',
  faults: {
    separator: 'فيه فاصلة أو فاصلة منقوطة بعد عنوان. أدخل عنوانًا واحدًا في كل سطر.',
    notAbsolute: `ليس عنوانًا كاملًا. ابدأ بـ ${isolate('https://')}.`,
    fragment: `فيه جزء (${isolate('#…')}) لا ترسله المتصفحات. أزله.`,
    wildcard: `فيه ${isolate('*')} أو ${isolate('\\')}. لا تعمل أحرف البدل: سجّل كل عنوان.`,
    characters: `فيه أحرف لا تكون في العناوين. رمّزها بصيغة ${isolate('%XX')}.`,
    tooLong: `طويل جدًا. الحد الأقصى ${numberOf(2000)} حرف.`,
    credentials: 'فيه اسم مستخدم أو كلمة مرور. أزلهما.',
    insecure: `يحتاج إلى ${isolate('https://')}. لا يُسمح بـ ${isolate('http://')} إلا على localhost.`,
    customScheme: `مخططه غير مسموح. يمكن للتطبيقات العامة استخدام نطاق معكوس، مثل ${isolate('com.example.app:/')}.`,
    origin: 'يجب أن يبدأ تمامًا كما تكتبه المتصفحات: بأحرف صغيرة، وبمضيف بسيط، ومن دون المنفذ الافتراضي.',
    ownHost: 'عنوان تابع لهذه الخدمة. أدخل عنوانًا لتطبيقك.',
  },
  differences: {
    nothingRegistered: 'لا يوجد عنوان إعادة توجيه مسجّل. أضف هذا العنوان أعلاه.',
    slash: 'لا تختلف إلا الشرطة المائلة في النهاية عن',
    letterCase: 'لا تختلف إلا حالة الأحرف الكبيرة والصغيرة عن',
    loopbackName: `الاسمان localhost و${isolate('127.0.0.1')} مختلفان. المسجّل هو`,
    scheme: 'يختلف http عن https. المسجّل هو',
    port: 'المنفذ مختلف. المسجّل هو',
    query: 'الجزء بعد علامة الاستفهام مختلف. المسجّل هو',
    path: 'المسار مختلف. المسجّل هو',
    host: 'لا يوجد عنوان إعادة توجيه مسجّل بهذا المضيف. الأقرب هو',
  },
}
