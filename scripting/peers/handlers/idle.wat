;; Does nothing: what remains is the call.
(module
  (memory (export "memory") 1)
  (func (export "on_tick") (param $me i64) (param $dt i64)))
