package workdir
import ("testing";"os";"fmt";"time";"strings";"runtime")
func TestX(t *testing.T){
 dir:=t.TempDir()
 p:=dir
 os.Chdir(p)
 seg:=strings.Repeat("d",250)
 for i:=0;i<100;i++{ os.Mkdir(seg,0o755); os.Chdir(seg)}
 for i:=0;i<9000;i++{ os.WriteFile(fmt.Sprint(i),nil,0o644)}
 os.Chdir("/")
 r,_:=os.OpenRoot(dir); d:=New(r,Self())
 b:=time.Now(); l,err:=d.List(); var m runtime.MemStats; runtime.ReadMemStats(&m)
 fmt.Println(len(l),err,time.Since(b),m.HeapAlloc>>20,"MiB", m.TotalAlloc>>20)
}
func TestY(t *testing.T){
 dir:=t.TempDir()
 for i:=0;i<9900;i++{ os.Mkdir(dir+"/"+fmt.Sprint(i),0o755)}
 r,_:=os.OpenRoot(dir); d:=New(r,Self())
 b:=time.Now(); l,err:=d.List()
 fmt.Println(len(l),err,time.Since(b))
}
